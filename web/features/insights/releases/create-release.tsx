import { serviceNow } from '../../../ui/clock.ts'
import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { paths } from '../../../address/paths.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, focusFirstInvalid, SelectField } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { releasesTexts } from './texts.ts'
import fitStyles from '../../../ui/fit.module.css'
import { isReleaseName } from '#shared/release-name.ts'
import typeStyles from '../../../ui/type.module.css'

const form = releasesTexts.form

/** Creates a release before it ships. Events and sessions create releases automatically. */
export function CreateReleaseDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const navigate = useNavigate()
  const [version, setVersion] = useState('')
  const [when, setWhen] = useState<'now' | 'later'>('now')
  const [ref, setRef] = useState('')
  const [url, setUrl] = useState('')
  const [tried, setTried] = useState(false)
  const create = useChange({
    send: () =>
      call('POST /api/releases', {
        body: {
          projectId,
          version: version.trim(),
          ...(when === 'now' ? { released_at: new Date(serviceNow()).toISOString() } : {}),
          ...(ref.trim() === '' ? {} : { ref: ref.trim() }),
          ...(url.trim() === '' ? {} : { url: url.trim() }),
        },
      }),
    touches: () => [['releases']],
    said: () => form.created(version.trim()),
    failed: null,
  })
  const versionError = isReleaseName(version.trim()) ? undefined : form.versionWrong
  const urlError = url.trim() === '' || /^https?:\/\/\S+$/i.test(url.trim()) ? undefined : form.urlWrong
  const refused = create.error instanceof ApiError ? create.error.message : undefined

  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (versionError !== undefined || urlError !== undefined) return focusFirstInvalid(form)
    create.mutate(undefined, {
      onSuccess: (release) => {
        onClose()
        void navigate(paths.release(release.id, { project: projectId }))
      },
    })
  }
  return (
    <Dialog open onClose={onClose} title={releasesTexts.create}>
      <Form className={fitStyles.spaced} onSubmit={submit}>
        <Field
          label={form.version}
          hint={form.versionHint}
          error={tried ? (versionError ?? refused) : refused}
          className={typeStyles.mono}
          value={version}
          maxLength={250}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => {
            setVersion(event.target.value)
            create.reset()
          }}
        />
        <SelectField
          label={form.releasedAt}
          value={when}
          onChange={(event) => setWhen(event.target.value === 'later' ? 'later' : 'now')}
        >
          <option value="now">{form.now}</option>
          <option value="later">{form.later}</option>
        </SelectField>
        <Field
          label={form.ref}
          hint={form.refHint}
          value={ref}
          maxLength={250}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setRef(event.target.value)}
        />
        <Field
          label={form.url}
          hint={form.urlHint}
          error={tried ? urlError : undefined}
          value={url}
          inputMode="url"
          maxLength={2000}
          autoComplete="off"
          onChange={(event) => setUrl(event.target.value)}
        />
        <DialogFoot onClose={onClose} submit={releasesTexts.create} busy={create.isPending} />
      </Form>
    </Dialog>
  )
}
