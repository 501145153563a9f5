import { useState } from 'react'
import { MAX_EVENTS_PER_MINUTE } from '#shared/limits.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { formatCount } from '../../../ui/format.ts'
import { settingsTexts } from './texts.ts'

const texts = settingsTexts.keysPage

type KeyDialogProps = {
  project: ProjectSettings
  /** The key that is changed; absent for a new one. */
  projectKey?: ProjectSettings['keys'][number]
  onClose: () => void
}

/** The number that was typed; null for none, undefined for what is no limit. */
function limitOf(text: string): number | null | undefined {
  const digits = text.replaceAll(/[\s,]/g, '')
  if (digits === '') return null
  const limit = Number(digits)
  return /^\d+$/.test(digits) && limit >= 1 && limit <= MAX_EVENTS_PER_MINUTE ? limit : undefined
}

/** Name and limit of a key. */
export function KeyDialog({ project, projectKey: key, onClose }: KeyDialogProps) {
  const [name, setName] = useState(key?.name ?? '')
  const [limit, setLimit] = useState(key?.rate_limit_per_minute == null ? '' : formatCount(key.rate_limit_per_minute))
  const [tried, setTried] = useState(false)
  const rate = limitOf(limit)
  const save = useChange({
    send: (body: { name: string; rate_limit_per_minute: number | null }) =>
      key === undefined
        ? call('POST /api/projects/:projectId/keys', { params: { projectId: project.id }, body })
        : call('PATCH /api/projects/:projectId/keys/:keyId', {
            params: { projectId: project.id, keyId: key.id },
            body,
          }),
    touches: () => [['projects']],
    said: (answer) => (key === undefined ? texts.added(answer.name) : texts.edited),
    failed: null,
  })
  const isMissing = name.trim() === ''
  return (
    <Dialog open onClose={onClose} title={key === undefined ? texts.addTitle : texts.editTitle(key.name)}>
      {key === undefined ? <p>{texts.addText}</p> : null}
      <Form
        onSubmit={(form) => {
          if (save.isPending) return
          setTried(true)
          if (isMissing || rate === undefined) focusFirstInvalid(form)
          else
            save.mutate(
              { name: name.trim(), rate_limit_per_minute: rate },
              { onSuccess: onClose, onError: () => focusFirstInvalid(form) },
            )
        }}
      >
        <Field
          label={texts.name}
          data-autofocus
          autoComplete="off"
          maxLength={60}
          value={name}
          error={
            tried && isMissing
              ? texts.nameMissing
              : save.error === null
                ? undefined
                : errorSentence(save.error, { name: texts.name, rate_limit_per_minute: texts.limit })
          }
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={texts.limit}
          hint={texts.limitHint(formatCount(project.rate_limit_per_minute ?? texts.defaultRate))}
          inputMode="numeric"
          value={limit}
          error={rate === undefined ? texts.limitWrong : undefined}
          onChange={(event) => setLimit(event.target.value)}
        />
        <DialogFoot onClose={onClose} submit={key === undefined ? texts.add : texts.save} busy={save.isPending} />
      </Form>
    </Dialog>
  )
}
