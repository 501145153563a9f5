import { describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../kernel/ids.ts'
import { changeLane } from './change-lane.ts'
import { closeLane, MAX_ENDED } from './close-lane.ts'
import { eraseUserMessages } from './erase-messages.ts'
import { listDeliveries, type DeliveriesInput } from './list-deliveries.ts'
import { aLane, anOrg, someDeliveries } from './outbox.fixture.ts'
import { purgeOutbox } from './purge-outbox.ts'
import { readDelivery } from './read-delivery.ts'
import { requestReplay } from './request-replay.ts'

const { app } = await testApp()
const orgId = await anOrg(app)

const lane = (laneId: string) =>
  app.db.selectFrom('outbox_lanes').selectAll().where('id', '=', laneId).executeTakeFirstOrThrow()
const delivery = (id: string) =>
  app.db.selectFrom('outbox_deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const set = (id: string, values: object) =>
  app.db.updateTable('outbox_deliveries').set(values).where('id', '=', id).execute()
const first = async (laneId: string): Promise<string> => (await someDeliveries(app, orgId, laneId, 1))[0] ?? ''
const list = (laneId: string, input: Partial<DeliveriesInput> = {}) =>
  listDeliveries(app.db, laneId, { limit: 10, offset: 0, ...input })

test('a new delivery is pending and due immediately', async () => {
  const id = await first(await aLane(app, orgId))
  const row = await delivery(id)
  expect(row).toMatchObject({ state: 'pending', attempt: 0, attempts_made: 0, type: 'test.type', org_id: orgId })
  expect(row.due_at).toEqual(row.next_attempt_at)
  const detail = await readDelivery(app.db, orgId, id)
  expect(JSON.parse(detail?.body?.toString() ?? '')).toEqual({ id: detail?.messageId })
  expect(await readDelivery(app.db, newId(), id)).toBeNull()
})

test('a lane is paused, continued, and changed only in what is given', async () => {
  const id = await aLane(app, orgId, { maxPerSecond: 5 })
  await app.tx((tx) => changeLane(tx, id, { isPaused: true, maxInFlight: 7 }))
  const paused = await lane(id)
  expect(paused).toMatchObject({ max_per_second: 5, max_in_flight: 7, is_strict: false })
  await app.tx((tx) => changeLane(tx, id, { isPaused: true, isStrict: true }))
  expect(paused.paused_at).toBeInstanceOf(Date)
  expect((await lane(id)).paused_at).toEqual(paused.paused_at)
  await app.tx((tx) => changeLane(tx, id, { isPaused: false, maxPerSecond: null }))
  expect(await lane(id)).toMatchObject({ max_per_second: null, max_in_flight: 7, is_strict: true, paused_at: null })
})

describe('closing a lane', () => {
  test('ends what waits with its reason, and leaves what is in flight to its settlement', async () => {
    const id = await aLane(app, orgId)
    const [waiting = '', retrying = '', inFlight = '', delivered = ''] = await someDeliveries(app, orgId, id, 4)
    const later = new Date(Date.now() + 3_600_000)
    await set(retrying, { state: 'failed', attempt: 1, attempts_made: 1, next_attempt_at: later, due_at: later })
    await set(inFlight, { state: 'in_flight', lease_token: newId(), due_at: later })
    await set(delivered, { state: 'delivered', next_attempt_at: null, due_at: null })
    await app.tx((tx) => closeLane(tx, id, 'endpoint_deleted'))
    for (const one of [waiting, retrying])
      expect(await delivery(one)).toMatchObject({
        state: 'failed',
        reason: 'endpoint_deleted',
        next_attempt_at: null,
        due_at: null,
      })
    expect(await delivery(inFlight)).toMatchObject({ state: 'in_flight', reason: null })
    expect(await delivery(delivered)).toMatchObject({ state: 'delivered', reason: null })
    const answers = await app.tx((tx) => requestReplay(tx, orgId, [waiting], { retries: false }))
    expect(answers).toMatchObject([{ id: waiting, answer: 'closed' }])
  })

  test('ends a bounded number in its own transaction', async () => {
    const id = await aLane(app, orgId)
    await someDeliveries(app, orgId, id, MAX_ENDED + 5)
    await app.tx((tx) => closeLane(tx, id, 'endpoint_deleted'))
    expect((await list(id, { state: 'pending' })).total).toBe(5)
  })
})

describe('asking for a replay', () => {
  test('makes a delivery due in whatever state, and keeps its schedule', async () => {
    const id = await aLane(app, orgId)
    const [delivered = '', exhausted = '', retrying = ''] = await someDeliveries(app, orgId, id, 3)
    const later = new Date(Date.now() + 3_600_000)
    await set(delivered, { state: 'delivered', attempt: 1, attempts_made: 1, next_attempt_at: null, due_at: null })
    await set(exhausted, { state: 'failed', attempt: 6, attempts_made: 6, next_attempt_at: null, due_at: null })
    await set(retrying, { state: 'failed', attempt: 2, attempts_made: 2, next_attempt_at: later, due_at: later })
    const ids = [delivered, exhausted, retrying]
    const answers = await app.tx((tx) => requestReplay(tx, orgId, [...ids, 'd_none'], { retries: false }))
    expect(answers.map((one) => [one.id, one.answer])).toEqual(ids.map((one) => [one, 'accepted']))
    for (const one of ids) expect(await delivery(one)).toMatchObject({ state: 'pending', replay: 'once' })
    expect((await delivery(retrying)).next_attempt_at).toEqual(later)
    expect((await delivery(retrying)).due_at?.getTime()).toBeLessThan(Date.now() + 1_000)
  })

  test('during an attempt waits for its end', async () => {
    const id = await first(await aLane(app, orgId))
    const leaseEnd = new Date(Date.now() + 30_000)
    await set(id, { state: 'in_flight', lease_token: newId(), due_at: leaseEnd })
    const ask = (retries: boolean) => app.tx((tx) => requestReplay(tx, orgId, [id], { retries }))
    expect(await ask(true)).toMatchObject([{ answer: 'accepted_in_flight' }])
    expect(await ask(false)).toMatchObject([{ answer: 'accepted_in_flight' }])
    expect(await delivery(id)).toMatchObject({ state: 'in_flight', replay: 'with_retries', due_at: leaseEnd })
  })

  test('finds deliveries of the own organisation only', async () => {
    const id = await first(await aLane(app, orgId))
    expect(await app.tx((tx) => requestReplay(tx, newId(), [id], { retries: false }))).toEqual([])
    expect(await delivery(id)).toMatchObject({ replay: null })
  })
})

test('an erasure empties messages and attempts of a user, ends their deliveries and refuses replays', async () => {
  const userId = newId()
  const laneId = await aLane(app, orgId)
  const [waiting = '', delivered = ''] = await someDeliveries(app, orgId, laneId, 2, { userId })
  const other = await first(laneId)
  await set(delivered, { state: 'delivered', next_attempt_at: null, due_at: null })
  await app.db
    .insertInto('outbox_attempts')
    .values({
      delivery_id: delivered,
      n: 1,
      trigger: 'schedule',
      started_at: new Date(),
      duration_ms: 5,
      status: 200,
      details: JSON.stringify({ response_body: 'hello ada@example.com' }),
    })
    .execute()
  expect(await app.tx((tx) => eraseUserMessages(tx, userId))).toBe(2)
  expect(await readDelivery(app.db, orgId, waiting)).toMatchObject({
    isErased: true,
    body: null,
    state: 'failed',
    reason: 'erased',
    nextAttemptAt: null,
  })
  expect(await readDelivery(app.db, orgId, delivered)).toMatchObject({
    isErased: true,
    body: null,
    state: 'delivered',
    attempts: [{ n: 1, status: 200, details: {} }],
  })
  expect(await readDelivery(app.db, orgId, other)).toMatchObject({ isErased: false, state: 'pending' })
  const answers = await app.tx((tx) => requestReplay(tx, orgId, [delivered, other], { retries: false }))
  expect(answers.map(({ answer }) => answer)).toEqual(['erased', 'accepted'])
})

test('the list has each delivery once, newest first, by offset and by cursor, under every filter', async () => {
  const laneId = await aLane(app, orgId)
  const ids: string[] = []
  for (const type of ['a.one', 'b.two', 'a.one', 'c.three'])
    ids.push(...(await someDeliveries(app, orgId, laneId, 5, { type })))
  const later = new Date(Date.now() + 3_600_000)
  for (const [index, id] of ids.entries()) {
    if (index % 4 === 1) await set(id, { state: 'failed', next_attempt_at: null, due_at: null })
    if (index % 4 === 2) await set(id, { state: 'failed', next_attempt_at: later, due_at: later })
    if (index % 4 === 3) await set(id, { state: 'delivered', next_attempt_at: null, due_at: null })
  }
  const rows = await app.db.selectFrom('outbox_deliveries').selectAll().where('lane_id', '=', laneId).execute()
  rows.sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1))
  const from = rows[14]?.created_at
  const to = rows[2]?.created_at
  const filters: [Partial<DeliveriesInput>, (row: (typeof rows)[number]) => boolean][] = [
    [{}, () => true],
    [{ state: 'pending' }, (row) => row.state === 'pending'],
    [{ state: 'failed' }, (row) => row.state === 'failed'],
    [{ retrying: true }, (row) => row.state === 'failed' && row.next_attempt_at !== null],
    [{ retrying: true, state: 'delivered' }, () => false],
    [{ type: 'a.one' }, (row) => row.type === 'a.one'],
    [{ type: 'a.one', state: 'failed' }, (row) => row.type === 'a.one' && row.state === 'failed'],
    [{ type: 'none' }, () => false],
    [{ from, to }, (row) => from !== undefined && to !== undefined && row.created_at >= from && row.created_at < to],
    [{ from, state: 'delivered' }, (row) => from !== undefined && row.created_at >= from && row.state === 'delivered'],
  ]
  for (const [filter, matches] of filters) {
    const expected = rows.filter((row) => matches(row)).map(({ id }) => id)
    const byCursor: string[] = []
    const byOffset: string[] = []
    let cursor: string | undefined
    do {
      const page = await list(laneId, { ...filter, limit: 3, cursor })
      expect(page.total).toBe(expected.length)
      byCursor.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    for (let offset = 0; offset < rows.length; offset += 3)
      byOffset.push(...(await list(laneId, { ...filter, limit: 3, offset })).items.map(({ id }) => id))
    expect(byCursor).toEqual(expected)
    expect(byOffset).toEqual(expected)
  }
  await expect(list(laneId, { cursor: 'x' })).rejects.toThrow('cursor is not valid')
  await expect(list(laneId, { cursor: 'x', offset: 1 })).rejects.toThrow('either cursor or offset')
})

test('the purge deletes messages after 365 days, with deliveries and attempts', async () => {
  const laneId = await aLane(app, orgId)
  const [old = '', young = ''] = await someDeliveries(app, orgId, laneId, 2)
  const age = async (id: string, days: number): Promise<void> => {
    const { message_id: messageId } = await delivery(id)
    const at = new Date(Date.now() - days * 86_400_000)
    await app.db.updateTable('outbox_messages').set({ created_at: at }).where('id', '=', messageId).execute()
  }
  await age(old, 366)
  await age(young, 364)
  await purgeOutbox(app)
  expect(await readDelivery(app.db, orgId, old)).toBeNull()
  expect(await readDelivery(app.db, orgId, young)).not.toBeNull()
})

test('the purge deletes lanes that were closed 365 days ago, when they have no deliveries left', async () => {
  const [kept, young, old, open] = await Promise.all(Array.from({ length: 4 }, () => aLane(app, orgId)))
  const close = (laneId: string | undefined, days: number) =>
    app.db.query(
      `update outbox_lanes set closed_at = now() - make_interval(days => $2), closed_reason = 'gone' where id = $1`,
      [laneId, days],
    )
  await someDeliveries(app, orgId, kept ?? '', 1)
  for (const laneId of [kept, old]) await close(laneId, 366)
  await close(young, 364)
  await purgeOutbox(app)
  const left = await app.db.selectFrom('outbox_lanes').select('id').where('org_id', '=', orgId).execute()
  const ids = left.map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining([kept, young, open]))
  expect(ids).not.toContain(old)
})
