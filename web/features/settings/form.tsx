import type { ReactNode, Ref, SubmitEvent } from 'react'
import { call } from '../../api/call.ts'
import { reasonOf, useChange } from '../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../api/queries.ts'
import { labelled } from '../../common/field-errors.ts'
import { useKeys } from '../../common/keys.ts'
import { useUnsaved } from '../../common/unsaved.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Button } from '../../ui/button.tsx'
import { Note } from '../../ui/note.tsx'
import { Minor } from '../../ui/text.tsx'
import { settingsTexts } from './texts.ts'
import { commonTexts } from '../../common/texts.ts'
import styles from '../../common/settings.module.css'
import { Spacer } from '../../ui/stack.tsx'

type Patch = NonNullable<Parameters<typeof call<'PATCH /api/projects/:projectId/settings'>>[1]>['body']

/** Saves a part of a project's settings. The form shows errors, not a toast. */
export function useSettingsSave(
  projectId: string,
  { said, onSaved }: { said: string; onSaved: (project: ProjectSettings) => void },
) {
  return useChange({
    send: (body: Patch) => call('PATCH /api/projects/:projectId/settings', { params: { projectId }, body }),
    touches: () => [['projects']],
    settle: (client, answer) => {
      client.setQueryData(projectSettingsQuery(projectId).queryKey, answer)
      onSaved(answer)
    },
    said: () => said,
    failed: null,
  })
}

type SettingsFormProps = {
  name: string
  /** The error of the last attempt, shown after the sentence `failed`. */
  error: Error | null
  failed: string
  /** By button, Enter or Ctrl S. */
  onSave: () => void
  className?: string
  formRef?: Ref<HTMLFormElement>
  children: ReactNode
}

/** A form of settings that is saved as a whole. */
export function SettingsForm({ name, error, failed, onSave, className, formRef, children }: SettingsFormProps) {
  useKeys([{ keys: 'mod+s', label: settingsTexts.saveKeys, group: 'Page', whileTyping: true, run: onSave }])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onSave()
  }
  return (
    <form ref={formRef} className={classNames(styles.page, className)} onSubmit={submit} noValidate aria-label={name}>
      {error === null ? null : (
        <Note tone="red" icon="warn" role="alert">
          {failed} {labelled(reasonOf(error), settingsTexts.fields)}
        </Note>
      )}
      {children}
    </form>
  )
}

type SaveStateProps = {
  dirty: boolean
  busy: boolean
  why: string | undefined
  /** Other buttons, before the one that saves. */
  children?: ReactNode
}

/** The end of a card's head: the note about unsaved changes, and the button that saves them. */
export function SaveState({ dirty, busy, why, children }: SaveStateProps) {
  useUnsaved(dirty)
  return (
    <>
      <Spacer />
      {dirty ? <Minor>{settingsTexts.unsaved}</Minor> : null}
      {children}
      <Button
        type="submit"
        size="sm"
        look={dirty ? 'primary' : 'plain'}
        busy={busy}
        why={why ?? (dirty ? undefined : commonTexts.saved)}
      >
        {settingsTexts.save}
      </Button>
    </>
  )
}
