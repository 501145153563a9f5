import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import type { WebhookEndpoint } from '../../api/webhook-queries.ts'
import { paths } from '../../address/paths.ts'
import { commonTexts } from '../../common/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { hostOf } from './model.ts'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.removal

/** Confirms the deletion of an endpoint by typing its host. */
export function DeleteDialog({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const host = hostOf(endpoint.url)
  const remove = useChange({
    send: () => call('DELETE /api/webhooks/:endpointId', { params: { endpointId: endpoint.id } }),
    same: () => endpoint.id,
    touches: () => [['webhooks', 'endpoints']],
    said: () => texts.done,
    failed: texts.failed,
  })
  const ready = typed.trim().toLowerCase() === host
  const submit = () => {
    if (!ready || remove.isPending) return
    remove.mutate(undefined, {
      onSuccess: () => void navigate({ ...paths.webhooks(), replace: true }),
      onSettled: onClose,
    })
  }
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <p>{texts.text(host)}</p>
      <Form onSubmit={submit}>
        <Field
          label={texts.confirm(host)}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{commonTexts.cancel}</Button>
          <Button type="submit" look="danger" busy={remove.isPending} why={ready ? undefined : texts.confirm(host)}>
            {texts.submit}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
