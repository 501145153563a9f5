import { useState, type ReactNode, type Ref, type SubmitEvent } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../../api/queries.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Card } from '../../../ui/card.tsx'
import { Note } from '../../../ui/note.tsx'
import { settingsTexts } from './texts.ts'
import styles from '../../../frames/settings.module.css'

type Patch = NonNullable<Parameters<typeof call<'PATCH /api/projects/:projectId/settings'>>[1]>['body']

type SettingsDraftOptions<Draft> = {
  draftOf: (project: ProjectSettings) => Draft
  /** The patch that is sent. A draft that would change nothing is not unsaved. */
  patchOf: (draft: Draft) => Patch
  said: string
  /** Start of a toast with the error; by default the form shows it. */
  failed?: string
  /** Why the user may not save. */
  why: string | undefined
  /** Results of the draft before end with it. */
  onChange?: () => void
}

/** The draft of a part of a project's settings. What is typed while it is being saved stays. */
export function useSettingsDraft<Draft>(project: ProjectSettings, options: SettingsDraftOptions<Draft>) {
  const { draftOf, patchOf, said, failed = null, why, onChange } = options
  const [draft, setDraft] = useState(() => draftOf(project))
  const dirty = JSON.stringify(patchOf(draft)) !== JSON.stringify(patchOf(draftOf(project)))
  const save = useChange({
    send: (sent: Draft) =>
      call('PATCH /api/projects/:projectId/settings', { params: { projectId: project.id }, body: patchOf(sent) }),
    touches: () => [['projects']],
    settle: (client, answer, sent) => {
      client.setQueryData(projectSettingsQuery(project.id).queryKey, answer)
      setDraft((now) => (now === sent ? draftOf(answer) : now))
    },
    said: () => said,
    failed,
  })
  const change = (next: Draft) => {
    setDraft(next)
    onChange?.()
    if (save.error !== null) save.reset()
  }
  return {
    draft,
    change,
    error: save.error,
    /** For the form or card around the fields. */
    form: {
      dirty,
      busy: save.isPending,
      why,
      onSave: () => {
        if (dirty && why === undefined && !save.isPending) save.mutate(draft)
      },
      onDiscard: () => change(draftOf(project)),
    },
  }
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
          {failed} {errorSentence(error, settingsTexts.fields)}
        </Note>
      )}
      {children}
      <Card as="div" className={styles.saveBar} data-dirty={dirty ? '' : undefined}>
        <SaveFoot dirty={dirty} busy={busy} why={why} onSave={onSave} onDiscard={onDiscard} />
      </Card>
    </form>
  )
}
