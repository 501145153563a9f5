import { useState } from 'react'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import type { WebhookEndpoint } from '../../api/webhook-queries.ts'
import { commonTexts } from '../../common/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, SelectField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatLeft } from '../../ui/format.ts'
import { Note } from '../../ui/note.tsx'
import { useNow } from '../../ui/now.ts'
import { Toolbar } from '../../ui/stack.tsx'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.rotate
const DAY_SECONDS = 86_400

type RotateDialogProps = {
  endpoint: WebhookEndpoint
  onClose: () => void
  onRotated: (secret: string) => void
}

/** Confirms a rotation by typing: receivers with the old secret refuse requests once it has ended. */
export function RotateDialog({ endpoint, onClose, onRotated }: RotateDialogProps) {
  const [typed, setTyped] = useState('')
  const [end, setEnd] = useState<'now' | 'day'>('day')
  const now = useNow('second')
  const overlapEndsAt = endpoint.overlap_ends_at
  const isOverlapping = overlapEndsAt !== null && Date.parse(overlapEndsAt) > now
  const rotate = useChange({
    send: () =>
      call('POST /api/webhooks/:endpointId/rotate-secret', {
        params: { endpointId: endpoint.id },
        body: { overlap_seconds: end === 'day' ? DAY_SECONDS : 0, force: isOverlapping },
      }),
    same: () => endpoint.id,
    touches: () => [['webhooks']],
    said: () => texts.done,
    failed: texts.failed,
  })
  const ready = typed.trim().toLowerCase() === texts.confirmation
  const submit = () => {
    if (!ready || rotate.isPending) return
    rotate.mutate(undefined, { onSuccess: ({ secret }) => onRotated(secret), onSettled: onClose })
  }
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <p>{texts.text}</p>
      {isOverlapping ? (
        <Note tone="amber" icon="warn">
          {texts.running(formatLeft(overlapEndsAt, now))}
        </Note>
      ) : null}
      <Form onSubmit={submit}>
        <SelectField
          label={texts.when}
          hint={end === 'day' ? texts.dayHint : texts.nowHint}
          value={end}
          onChange={(event) => setEnd(event.target.value === 'now' ? 'now' : 'day')}
        >
          <option value="day">{texts.day}</option>
          <option value="now">{texts.now}</option>
        </SelectField>
        <Field
          label={texts.confirm(texts.confirmation)}
          data-autofocus
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{commonTexts.cancel}</Button>
          <Button
            type="submit"
            look="danger"
            busy={rotate.isPending}
            why={ready ? undefined : texts.confirm(texts.confirmation)}
          >
            {texts.submit}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
