import { useNavigate } from '@tanstack/react-router'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { paths } from '../../../address/paths.ts'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { endpointHost } from './model.ts'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.removal

/** Confirms the deletion of an endpoint by typing its host. */
export function DeleteDialog({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const navigate = useNavigate()
  const host = endpointHost(endpoint.url)
  const remove = useChange({
    send: () => call('DELETE /api/webhooks/:endpointId', { params: { endpointId: endpoint.id } }),
    same: () => endpoint.id,
    touches: () => [['webhooks', 'endpoints']],
    said: () => texts.done,
    failed: texts.failed,
  })
  const submit = () =>
    remove.mutate(undefined, {
      onSuccess: () => void navigate({ ...paths.webhooks(), replace: true }),
      onSettled: onClose,
    })
  return (
    <TypedConfirm
      title={texts.title}
      text={texts.text(host)}
      word={host}
      submit={texts.submit}
      isBusy={remove.isPending}
      onConfirm={submit}
      onClose={onClose}
    />
  )
}
