import { expect, test } from 'vitest'
import { ENDPOINT } from '#test/kit/endpoint-input.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createEndpoint } from './create-endpoint.ts'
import type { WebhookDeliveryDetail } from './deliveries.api.ts'
import { purgeWebhooks } from './purge-webhooks.ts'
import { replayDelivery } from './replay-deliveries.ts'
import { rotateSecret } from './rotate-secret.ts'
import { sendTest } from './send-test.ts'
import { updateEndpoint } from './update-endpoint.ts'
import { readWebhookDelivery } from './view-delivery.ts'
import { aReceiver, headersOf } from './webhooks.fixture.ts'

/** The clock of the service is the test's; the clock of the database is not. */
const t = await testServer({ deliveries: true, env: { FAULTLINE_RETRY_SCALE: '0.00001' } })

const seconds = () => String(Math.floor(t.clock.now().getTime() / 1_000))
const HOUR_MS = 3_600_000

/** Operations instead of the API: sessions end when the clock moves. */
async function anEndpoint(url: string): Promise<{ owner: Person; endpointId: string; send(): Promise<string> }> {
  const owner = await aPerson(t.app)
  const { id: endpointId } = await createEndpoint(t.app, owner.actor, {
    url,
    ...ENDPOINT,
  })
  return { owner, endpointId, send: async () => (await sendTest(t.app, owner.actor, endpointId)).id }
}

const ended = (owner: Person, id: string, attempts: number): Promise<WebhookDeliveryDetail> =>
  waitFor(`the end of ${id}`, async () => {
    const one = await readWebhookDelivery(t.app, owner.actor, id)
    const isEnded = (one.state === 'delivered' || one.state === 'failed') && one.next_attempt_at === null
    return isEnded && one.attempts.length >= attempts && one
  })

test('each attempt is signed with the time of its sending, wherever the clock of the service jumps', async () => {
  const times: string[] = []
  const jumps = [HOUR_MS, -2 * HOUR_MS, 24 * HOUR_MS, -48 * HOUR_MS, 500]
  const receiver = await aReceiver(t, () => {
    times.push(seconds())
    t.clock.advance(jumps[times.length - 1] ?? 0)
    return 500
  })
  const { owner, send } = await anEndpoint(receiver.url)
  await ended(owner, await send(), 6)
  expect(times).toHaveLength(6)
  expect(receiver.requests.map((request) => headersOf(request)['svc-timestamp'])).toEqual(times)
  for (const request of receiver.requests)
    expect(headersOf(request)['svc-signature']).toMatch(
      new RegExp(`^t=${String(headersOf(request)['svc-timestamp'])},`),
    )
})

test('the overlap of two secrets ends on time, also for a service that did not restart', async () => {
  const receiver = await aReceiver(t)
  const { owner, endpointId, send } = await anEndpoint(receiver.url)
  await rotateSecret(t.app, owner.actor, { endpointId, overlap_seconds: 3_600 })
  const signaturesAfter = async (ms: number): Promise<number> => {
    t.clock.advance(ms)
    await ended(owner, await send(), 1)
    return String(headersOf(receiver.requests.at(-1))['svc-signature']).split(',v1=').length - 1
  }
  expect([await signaturesAfter(0), await signaturesAfter(HOUR_MS - 1_000), await signaturesAfter(1_000)]).toEqual([
    2, 2, 1,
  ])
})

test('a secret is deleted when nothing can be signed with it any more', async () => {
  const receiver = await aReceiver(t, () => 500)
  const { owner, endpointId, send } = await anEndpoint(receiver.url)
  const versions = async () => {
    const rows = await t.app.db
      .selectFrom('webhook_secrets')
      .select('version')
      .where('endpoint_id', '=', endpointId)
      .orderBy('version')
      .execute()
    return rows.map(({ version }) => version)
  }
  const rotate = (overlap_seconds: number) => rotateSecret(t.app, owner.actor, { endpointId, overlap_seconds })
  await updateEndpoint(t.app, owner.actor, { endpointId, paused: true })
  const delivery = await send()
  await rotate(0)
  await rotate(3_600)
  await purgeWebhooks(t.app)
  // 1: a delivery is pinned to it; 2: its overlap; 3: current.
  expect(await versions()).toEqual([1, 2, 3])
  await updateEndpoint(t.app, owner.actor, { endpointId, paused: false })
  await ended(owner, delivery, 6)
  await purgeWebhooks(t.app)
  expect(await versions()).toEqual([2, 3])
  t.clock.advance(HOUR_MS)
  await purgeWebhooks(t.app)
  expect(await versions()).toEqual([3])
  await replayDelivery(t.app, owner.actor, { deliveryId: delivery, retries: true })
  expect(await ended(owner, delivery, 12)).toMatchObject({ state: 'failed', secret_version: 3 })
})
