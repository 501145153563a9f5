import { expect, test } from 'vitest'
import { ENDPOINT } from '#test/kit/endpoint-input.ts'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { eraseUserMessages } from '../../platform/outbox/erase-messages.ts'
import { someDeliveries } from '../../platform/outbox/outbox.fixture.ts'
import { createEndpoint } from './create-endpoint.ts'
import { recoverDeliveries } from './replay-deliveries.ts'

/** No worker: what is replayed stays as it is. */
const t = await testServer({ realTime: true })

/** More than a page of deliveries that failed. */
const COUNT = 1_500
const SINCE = { since: '2020-01-01T00:00:00Z' }

async function anEndpointWithFailures() {
  const { actor } = await aPerson(t.app)
  const { id: endpointId } = await createEndpoint(t.app, actor, {
    url: 'https://hooks.example.com/',
    ...ENDPOINT,
  })
  const userId = newId()
  const ids = await someDeliveries(t.app, actor.orgId, endpointId, COUNT, { type: 'device.new', userId })
  await t.app.db.query(
    `update outbox_deliveries set state = 'failed', attempt = 6, attempts_made = 6, next_attempt_at = null, due_at = null
     where lane_id = $1`,
    [endpointId],
  )
  return { userId, ids: ids.toSorted(), recover: () => recoverDeliveries(t.app, actor, { endpointId, ...SINCE }) }
}

const waiting = async (): Promise<number> => {
  const { rows } = await t.app.db.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.n ?? 0
}

test('a recovery and an erasure at the same time do not wait for each other', async () => {
  const { userId, ids, recover } = await anEndpointWithFailures()
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const { promise: locked, resolve: hasLock } = Promise.withResolvers<void>()
  const holding = t.app.tx(async (tx) => {
    await tx
      .selectFrom('outbox_deliveries')
      .select('id')
      .where('id', '=', ids[200] ?? '')
      .forUpdate()
      .execute()
    hasLock()
    await gate
  })
  await locked
  // It has the older deliveries and waits; the recovery then meets it.
  const erasing = t.app.tx((tx) => eraseUserMessages(tx, userId))
  await waitFor('the erasure to wait', async () => (await waiting()) === 1)
  const recovering = recover()
  await waitFor('the recovery to wait', async () => (await waiting()) === 2)
  open()
  await holding
  expect(await erasing).toBe(COUNT)
  expect(await recovering).toEqual({ count: 0, has_more: false })
})

test('two recoveries at the same time replay each delivery once', async () => {
  const { recover } = await anEndpointWithFailures()
  const counts = (await Promise.all([recover(), recover()])).map(({ count }) => count)
  expect(counts.toSorted((a, b) => a - b)).toEqual([0, COUNT])
})

test('a delivery that was delivered before a replay of it failed is not recovered', async () => {
  const { ids, recover } = await anEndpointWithFailures()
  await t.app.db
    .updateTable('outbox_deliveries')
    .set({ delivered_at: new Date() })
    .where('id', '=', ids[0] ?? '')
    .execute()
  expect(await recover()).toEqual({ count: COUNT - 1, has_more: false })
})
