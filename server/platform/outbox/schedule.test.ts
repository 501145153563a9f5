import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { aWorker, databaseClock, DELAYS_MS, result, testChannel } from './engine.fixture.ts'
import { aLane, anOrg, someDeliveries } from './outbox.fixture.ts'
import { readDelivery } from './read-delivery.ts'

// T-20 of the fault table. The clocks of Europe change at 01:00 UTC of that day, within the twelve hours.
const START = new Date('2026-10-24T14:00:00.000Z')
const HOUR_MS = 3_600_000

const t = await testApp()
const clock = await databaseClock(t, START)
const { app } = clock
const orgId = await anOrg(app)

const read = async (id: string) => {
  const one = await readDelivery(app.db, orgId, id)
  if (one === null) throw new Error('no delivery')
  return one
}

test('a held delivery is sent when its time has come on the clock of the database', async () => {
  const channel = testChannel()
  const laneId = await aLane(app, orgId)
  const [held = ''] = await someDeliveries(app, orgId, laneId, 1, { holdMs: 9 * HOUR_MS })
  const heldMs = (await read(held)).nextAttemptAt?.getTime() ?? 0
  expect(heldMs).toBe((await clock.now()).getTime() + 9 * HOUR_MS)
  await clock.set(new Date(heldMs - 1))
  aWorker(app, channel)
  const [other = ''] = await someDeliveries(app, orgId, laneId, 1)
  await waitFor('the other delivery', async () => (await read(other)).state === 'delivered')
  expect(await read(held)).toMatchObject({ state: 'pending', attemptsMade: 0 })
  await clock.advance(2)
  await waitFor('the held delivery', async () => (await read(held)).state === 'delivered')
  await clock.set(START)
})

test('six attempts at their due times, over restarts and jumps of the service clock: 14 h 36 min in all', async () => {
  const laneId = await aLane(app, orgId)
  const channel = testChannel(() => result('failed'))
  const [id = ''] = await someDeliveries(app, orgId, laneId, 1)
  const startedAt: Date[] = []
  for (const [index, delayMs] of DELAYS_MS.entries()) {
    if (index > 0) {
      const before = await read(id)
      expect(before).toMatchObject({ state: 'failed', attempt: index })
      const dueMs = before.nextAttemptAt?.getTime() ?? 0
      const lastMs = startedAt.at(-1)?.getTime() ?? 0
      // The few milliseconds between the end of the attempt and its record count as waited.
      expect(Math.abs(dueMs - lastMs - delayMs)).toBeLessThan(1_000)
      // Not a millisecond early.
      await clock.set(new Date(dueMs - 1))
      const early = aWorker(app, channel)
      const other = await someDeliveries(app, orgId, await aLane(app, orgId), 1)
      await waitFor('another delivery', async () => (await read(other[0] ?? '')).attemptsMade === 1)
      expect((await read(id)).attemptsMade).toBe(index)
      await early()
      await app.db.deleteFrom('outbox_deliveries').where('id', 'in', other).execute()
      // The database counts microseconds.
      await clock.set(new Date(dueMs + 1))
    }
    // The service's own clock is wrong by days, another way each time.
    t.clock.advance((index % 2 === 0 ? 5 : -7) * 24 * HOUR_MS)
    const stop = aWorker(app, channel)
    const { attempts } = await waitFor('the attempt', async () => {
      const one = await read(id)
      return one.attemptsMade === index + 1 && one
    })
    await stop()
    startedAt.push(attempts.at(-1)?.startedAt ?? new Date(0))
  }
  const done = await read(id)
  expect(done).toMatchObject({ state: 'failed', attempt: 6, attemptsMade: 6, nextAttemptAt: null })
  expect(channel.recorded.filter((one) => one.delivery.id === id).map((one) => one.isExhausted)).toEqual([
    false,
    false,
    false,
    false,
    false,
    true,
  ])
  const totalMs = (startedAt.at(-1)?.getTime() ?? 0) - (startedAt[0]?.getTime() ?? 0)
  expect(Math.abs(totalMs - (14 * 60 + 36) * 60_000)).toBeLessThan(1_000)
  await clock.advance(400 * 24 * HOUR_MS)
  const stop = aWorker(app, channel)
  const last = await someDeliveries(app, orgId, laneId, 1)
  await waitFor('a later delivery', async () => (await read(last[0] ?? '')).attemptsMade === 1)
  await stop()
  expect((await read(id)).attemptsMade).toBe(6)
})

test('moving the clock of the database loses and doubles nothing', async () => {
  const laneId = await aLane(app, orgId, { channel: 'other' })
  const ends: (() => void)[] = []
  const channel = testChannel(
    ({ n }) =>
      new Promise((resolve) => {
        ends.push(() => resolve(result(n === 1 ? 'failed' : 'delivered')))
      }),
    { name: 'other' },
  )
  // Two workers that have seen the clock: each has sent something.
  const firsts = [0, 1].map(() => new Set<string>())
  for (const first of firsts)
    aWorker(
      app,
      channel,
      testChannel(({ id }) => (first.add(id), result('delivered')), { name: 'first' }),
    )
  const firstLaneId = await aLane(app, orgId, { channel: 'first' })
  while (firsts.some(({ size }) => size === 0)) {
    const [one = ''] = await someDeliveries(app, orgId, firstLaneId, 1)
    await waitFor('each', async () => (await read(one)).state === 'delivered')
  }
  const [id = ''] = await someDeliveries(app, orgId, laneId, 1)
  const lease = async () =>
    app.db
      .selectFrom('outbox_deliveries')
      .select(['lease_token', 'due_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  await waitFor('the first attempt', () => ends.length === 1)
  const { lease_token: token } = await lease()
  // Far beyond the end of the lease, while the attempt is in flight: both workers claim others, and not this one.
  await clock.advance(24 * HOUR_MS)
  const between = await someDeliveries(app, orgId, laneId, 6)
  await waitFor('the others', () => ends.length === 7)
  for (const end of ends.splice(1)) end()
  for (const one of between) await waitFor('each', async () => (await read(one)).state === 'failed')
  await app.db.deleteFrom('outbox_deliveries').where('id', 'in', between).execute()
  expect((await lease()).lease_token).toBe(token)
  expect(channel.sent.splice(1)).toHaveLength(6)
  ends[0]?.()
  const failed = await waitFor('the failure', async () => {
    const one = await read(id)
    return one.state === 'failed' && one
  })
  expect(failed.attempts).toHaveLength(1)
  // Back to before it began: the retry is only later.
  await clock.advance(-48 * HOUR_MS)
  const [other = ''] = await someDeliveries(app, orgId, laneId, 1)
  await waitFor('another delivery', () => ends.length === 2)
  ends[1]?.()
  await waitFor('its failure', async () => (await read(other)).state === 'failed')
  expect(channel.sent.map((one) => one.id)).toEqual([id, other])
  await clock.set(new Date((failed.nextAttemptAt?.getTime() ?? 0) + 1))
  await waitFor('both retries', () => ends.length === 4)
  ends[2]?.()
  ends[3]?.()
  for (const one of [id, other])
    expect(
      await waitFor('both', async () => (await read(one)).state === 'delivered' && (await read(one))),
    ).toMatchObject({
      attempt: 2,
      attemptsMade: 2,
    })
})
