import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { formatCount, zoneName } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import { Toolbar } from '../../../ui/stack.tsx'
import { currentPrefs } from '../../../app/prefs.ts'
import { parseFieldInstant } from './model.ts'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.recovery

/** Replays every failed delivery of a time range, such as an outage of the receiver. */
export function RecoverDialog({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const [tried, setTried] = useState(false)
  const now = useNow('half-minute')
  const { zone } = currentPrefs()
  const from = parseFieldInstant(since, zone)
  const to = parseFieldInstant(until, zone)
  const sinceError = from === null ? texts.sinceWrong : undefined
  const untilError = from !== null && to !== null && to <= from ? texts.untilWrong : undefined
  const recover = useChange({
    send: () =>
      call('POST /api/webhooks/:endpointId/recover', {
        params: { endpointId },
        body: { since: from ?? '', ...(to === null ? {} : { until: to }) },
      }),
    same: () => endpointId,
    touches: () => [['webhooks']],
    said: ({ count, has_more: hasMore }) =>
      count === 0 ? texts.none : `${texts.done(formatCount(count), count === 1)}${hasMore ? `. ${texts.more}` : ''}`,
    failed: texts.failed,
  })
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (sinceError !== undefined || untilError !== undefined) return focusFirstInvalid(form)
    recover.mutate(undefined, { onSuccess: onClose })
  }
  const zoneHint = texts.zone(zoneName(now))
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <p>{texts.text}</p>
      <Form onSubmit={submit}>
        <Field
          label={texts.since}
          type="datetime-local"
          data-autofocus
          hint={zoneHint}
          error={tried ? sinceError : undefined}
          value={since}
          onChange={(event) => setSince(event.target.value)}
        />
        <Field
          label={texts.until}
          type="datetime-local"
          hint={texts.untilHint}
          error={tried ? untilError : undefined}
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{appTexts.cancel}</Button>
          <Button look="primary" type="submit" icon="rotate" busy={recover.isPending}>
            {texts.submit}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
