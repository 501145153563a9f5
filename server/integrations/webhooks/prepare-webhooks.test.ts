import { expect, test } from 'vitest'
import { ENDPOINT } from '#test/kit/endpoint-input.ts'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { newId, newPrefixedId } from '../../platform/kernel/ids.ts'
import { type ClaimedDelivery, NotSentError } from '../../platform/outbox/channel.ts'
import { aWorker } from '../../platform/outbox/engine.fixture.ts'
import { createEndpoint } from './create-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { prepareWebhooks } from './prepare-webhooks.ts'
import { sendTest } from './send-test.ts'
import { readWebhookDelivery } from './view-delivery.ts'
import { webhookChannel } from './webhook-channel.ts'
import { aReceiver } from './webhooks.fixture.ts'
import { waitFor } from '#test/kit/wait.ts'

const t = await testServer({ realTime: true })

async function anEndpoint(url: string) {
  const { actor } = await aPerson(t.app)
  const { id } = await createEndpoint(t.app, actor, {
    url,
    ...ENDPOINT,
  })
  return { actor, id }
}

const claimed = (laneId: string, orgId: string): ClaimedDelivery => ({
  id: newPrefixedId('d'),
  laneId,
  orgId,
  messageId: newPrefixedId('evt'),
  type: 'webhook.test',
  body: Buffer.from('{}'),
  secretVersion: 1,
  trigger: 'schedule',
  n: 1,
})

test('an organisation whose key cannot be opened holds up no other', async () => {
  const receiver = await aReceiver(t)
  const [broken, whole] = [await anEndpoint(receiver.url), await anEndpoint(receiver.url)]
  await t.app.db
    .updateTable('orgs')
    .set({ data_key_sealed: 'v1.k1.AAAA.AAAA' })
    .where('id', '=', broken.actor.orgId)
    .execute()
  // Another process: it has no opened keys yet.
  const app = { ...t.app }
  const batch = [broken, whole].map(({ id, actor }) => claimed(id, actor.orgId))
  const send = await prepareWebhooks(app, batch)
  const results = await Promise.all(batch.map((delivery) => send(delivery, new AbortController().signal)))
  expect(results.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual([
    ['failed', 'secret_unreadable'],
    ['delivered', null],
  ])
})

test('for an endpoint that was deleted nothing counts as an attempt', async () => {
  const delivery = claimed(newId(), newId())
  const send = await prepareWebhooks(t.app, [delivery])
  await expect(send(delivery, new AbortController().signal)).rejects.toBeInstanceOf(NotSentError)
})

test('a delivery whose endpoint is deleted after its claim ends with the reason of its lane', async () => {
  const receiver = await aReceiver(t)
  const { actor, id } = await anEndpoint(receiver.url)
  const delivery = await sendTest(t.app, actor, id)
  aWorker(t.app, {
    ...webhookChannel,
    async prepare(app, batch) {
      await deleteEndpoint(t.app, actor, id)
      return webhookChannel.prepare(app, batch)
    },
  })
  const one = await waitFor('its end', async () => {
    const read = await readWebhookDelivery(t.app, actor, delivery.id)
    return read.state === 'failed' && read
  })
  expect(one).toMatchObject({ reason: 'endpoint_deleted', next_attempt_at: null, attempts: [] })
  expect(receiver.requests).toEqual([])
})
