import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { SelectField } from '../../../ui/field.tsx'
import { formatLeft } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { useNow } from '../../../ui/now.ts'
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
  return (
    <TypedConfirm
      title={texts.title}
      text={texts.text}
      word={texts.confirmation}
      submit={texts.submit}
      isBusy={rotate.isPending}
      onConfirm={() => rotate.mutate(undefined, { onSuccess: ({ secret }) => onRotated(secret), onSettled: onClose })}
      onClose={onClose}
      note={
        isOverlapping ? (
          <Note tone="amber" icon="warn">
            {texts.running(formatLeft(overlapEndsAt, now))}
          </Note>
        ) : null
      }
    >
      <SelectField
        label={texts.when}
        hint={end === 'day' ? texts.dayHint : texts.nowHint}
        value={end}
        onChange={(event) => setEnd(event.target.value === 'now' ? 'now' : 'day')}
      >
        <option value="day">{texts.day}</option>
        <option value="now">{texts.now}</option>
      </SelectField>
    </TypedConfirm>
  )
}
