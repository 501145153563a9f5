import type { ReactNode, Ref, SubmitEvent } from 'react'
import { call } from '../../api/call.ts'
import { reasonOf, useChange } from '../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../api/queries.ts'
import { SaveFoot } from '../../common/save-foot.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Card } from '../../ui/card.tsx'
import { Note } from '../../ui/note.tsx'
import { settingsTexts } from './texts.ts'
import styles from '../../common/settings.module.css'

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
  dirty: boolean
  busy: boolean
  why: string | undefined
  /** By button, Enter or Ctrl S. */
  onSave: () => void
  onDiscard: () => void
  className?: string
  formRef?: Ref<HTMLFormElement>
  children: ReactNode
}

/** A form of settings that is saved as a whole; its foot stays in view. */
export function SettingsForm({
  name,
  error,
  failed,
  dirty,
  busy,
  why,
  onSave,
  onDiscard,
  className,
  formRef,
  children,
}: SettingsFormProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onSave()
  }
  return (
    <form ref={formRef} className={classNames(styles.page, className)} onSubmit={submit} noValidate aria-label={name}>
      {error === null ? null : (
        <Note tone="red" icon="warn" role="alert">
          {failed} {reasonOf(error, settingsTexts.fields)}
        </Note>
      )}
      {children}
      <Card as="div" className={styles.saveBar} data-dirty={dirty ? '' : undefined}>
        <SaveFoot dirty={dirty} busy={busy} why={why} onSave={onSave} onDiscard={onDiscard} />
      </Card>
    </form>
  )
}
