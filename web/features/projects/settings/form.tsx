import type { ReactNode } from 'react'
import { ErrorNote } from '../../../forms/error-note.tsx'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../../api/queries.ts'
import { useFormModel, type FormState } from '../../../forms/form-model.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Card } from '../../../ui/card.tsx'
import { FormRow } from '../../../ui/form.tsx'
import { settingsTexts } from './texts.ts'
import styles from '../../../frames/settings.module.css'

type Patch = NonNullable<Parameters<typeof call<'PATCH /api/projects/:projectId/settings'>>[1]>['body']

type SettingsDraftOptions<Draft> = {
  draftOf: (project: ProjectSettings) => Draft
  /** The patch that is sent. A draft that would change nothing is not unsaved. */
  patchOf: (draft: Draft) => Patch
  isWhole?: (draft: Draft) => boolean
  said: string
  /** Start of a toast with the error; by default the form shows it. */
  failed?: string
  why: string | undefined
  onChange?: () => void
}

/** The form model of a part of a project's settings. */
export function useSettingsDraft<Draft>(project: ProjectSettings, options: SettingsDraftOptions<Draft>) {
  const { draftOf, patchOf, said, failed = null, ...rest } = options
  const save = useChange({
    send: (sent: Draft) =>
      call('PATCH /api/projects/:projectId/settings', { params: { projectId: project.id }, body: patchOf(sent) }),
    touches: () => [['projects']],
    settle: (client, answer) => client.setQueryData(projectSettingsQuery(project.id).queryKey, answer),
    said: () => said,
    failed,
  })
  return useFormModel({
    ...rest,
    stored: draftOf(project),
    save,
    draftOf,
    isSame: (draft, stored) => JSON.stringify(patchOf(draft)) === JSON.stringify(patchOf(stored)),
  })
}

type SettingsFormProps = {
  name: string
  form: FormState
  /** The error of the last attempt, shown after the sentence `failed`. */
  error: Error | null
  failed: string
  children: ReactNode
}

/** A form of settings that is saved as a whole; its foot stays in view. */
export const SettingsForm = ({ name, form: { formRef, ...foot }, error, failed, children }: SettingsFormProps) => (
  <form
    ref={formRef}
    className={styles.page}
    onSubmit={(event) => {
      event.preventDefault()
      foot.onSave()
    }}
    noValidate
    aria-label={name}
  >
    <ErrorNote error={error} before={failed} labels={settingsTexts.fields} />
    {children}
    <Card as="div" className={styles.saveBar} data-dirty={foot.dirty ? '' : undefined}>
      <SaveFoot {...foot} />
    </Card>
  </form>
)

type FormCardProps = { title: string; form: FormState; children: ReactNode }

/** A card with a form that is saved separately. */
export const FormCard = ({ title, form: { formRef, ...foot }, children }: FormCardProps) => (
  <Card
    as="form"
    ref={formRef}
    onSubmit={(event) => {
      event.preventDefault()
      foot.onSave()
    }}
    noValidate
    title={title}
  >
    <FormRow className={styles.body}>{children}</FormRow>
    <SaveFoot {...foot} />
  </Card>
)
