import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../kernel/ids.ts'
import { changeLane } from './change-lane.ts'
import { closeLane } from './close-lane.ts'
import type { DeliveryState, Replay } from './delivery.ts'
import { databaseClock, DELAYS_MS, result, testChannel, type TestChannel } from './engine.fixture.ts'
import { claimDeliveries, endAbandoned, giveBackLeases, selectDue } from './engine.queries.ts'
import { aLane, anOrg, someDeliveries } from './outbox.fixture.ts'
import { hastenLane } from './hasten-lane.ts'
import { requestReplay } from './request-replay.ts'
import { settleAttempts } from './settler.ts'

// T-45: the verbs and statements of the outbox on a real database against a model of the rules of security, part 2.3.

const START = new Date('2026-10-24T14:00:00.000Z')
const LEASE_MS = 30_000

const t = await testApp()
const clock = await databaseClock(t, START)
const { app } = clock
const orgId = await anOrg(app)

/** The state of one delivery, by the rules. */
type Expected = {
  state: DeliveryState
  attempt: number
  made: number
  nextMs: number | null
  dueMs: number | null
  /** Token of its lease, and what the leased attempt is. */
  lease: { token: string; replay: Replay | null } | null
  replay: Replay | null
  reason: string | null
}

type Model = {
  nowMs: number
  isPaused: boolean
  isClosed: boolean
  isStrict: boolean
  readonly deliveries: Map<string, Expected>
}

/** A delivery that a worker has, with the token it got. */
type Held = {
  readonly id: string
  readonly token: string
  readonly claim: Awaited<ReturnType<typeof claimDeliveries>>[number]
}

type Real = { readonly laneId: string; readonly channel: TestChannel; readonly workers: [Held[], Held[]] }

type Command = fc.AsyncCommand<Model, Real>

const isDue = (model: Model, one: Expected): boolean => one.dueMs !== null && one.dueMs <= model.nowMs

/** Deliveries that a claim takes. */
function claimable(model: Model): [string, Expected][] {
  if (model.isPaused || model.isClosed) return []
  const due = [...model.deliveries].filter(([, one]) => isDue(model, one))
  if (!model.isStrict) return due
  // Only the oldest whose schedule has not ended, replays, and what a worker abandoned.
  const [next] = [...model.deliveries.values()].filter(({ nextMs }) => nextMs !== null)
  return due.filter(([, one]) => one === next || one.replay !== null || one.lease !== null)
}

/** Compares every delivery, and takes over times that may differ by the milliseconds that the test itself took. */
async function compare(model: Model, { laneId }: Real): Promise<void> {
  const rows = await app.db.selectFrom('outbox_deliveries').selectAll().where('lane_id', '=', laneId).execute()
  const attempts = await app.db
    .selectFrom('outbox_attempts')
    .select(['delivery_id', 'n'])
    .where('delivery_id', 'in', ['', ...rows.map(({ id }) => id)])
    .orderBy('n')
    .execute()
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...model.deliveries.keys()].toSorted())
  for (const row of rows) {
    const one = model.deliveries.get(row.id)
    if (one === undefined) continue
    expect({
      state: row.state,
      attempt: row.attempt,
      made: row.attempts_made,
      token: row.lease_token,
      leaseReplay: row.lease_replay,
      replay: row.replay,
      reason: row.reason,
      hasNext: row.next_attempt_at !== null,
      isDueEver: row.due_at !== null,
      attempts: attempts.filter((attempt) => attempt.delivery_id === row.id).map(({ n }) => n),
    }).toEqual({
      state: one.state,
      attempt: one.attempt,
      made: one.made,
      token: one.lease?.token ?? null,
      leaseReplay: one.lease?.replay ?? null,
      replay: one.replay,
      reason: one.reason,
      hasNext: one.nextMs !== null,
      isDueEver: one.dueMs !== null,
      attempts: Array.from({ length: one.made }, (_, index) => index + 1),
    })
    one.nextMs = near(row.next_attempt_at, one.nextMs)
    one.dueMs = near(row.due_at, one.dueMs)
  }
}

function near(actual: Date | null, expectedMs: number | null): number | null {
  if (actual === null || expectedMs === null) return expectedMs
  expect(Math.abs(actual.getTime() - expectedMs)).toBeLessThan(5_000)
  return actual.getTime()
}

/** A command on the database and the model, followed by the comparison. */
const command = (text: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  async run(model, real) {
    await run(model, real)
    await compare(model, real)
  },
  toString: () => text,
})

const enqueued = (count: number): Command =>
  command(`enqueue ${count}`, async (model, { laneId }) => {
    if (model.isClosed) return
    for (const id of await someDeliveries(app, orgId, laneId, count))
      model.deliveries.set(id, {
        state: 'pending',
        attempt: 0,
        made: 0,
        nextMs: model.nowMs,
        dueMs: model.nowMs,
        lease: null,
        replay: null,
        reason: null,
      })
  })

const claimed = (worker: 0 | 1): Command =>
  command(`worker ${worker} claims`, async (model, { channel, workers }) => {
    const token = newId()
    const expected = claimable(model)
    const { waitMs } = await selectDue(app.db, [channel.name], Infinity)
    // Whether a delivery waits for another is only known to the claim.
    if (!model.isStrict || expected.length > 0) expect(waitMs !== null && waitMs <= 0).toBe(expected.length > 0)
    const rows = await claimDeliveries(app.db, {
      token,
      leaseMs: LEASE_MS,
      channels: [channel.name],
      free: 1_000,
      freeWithReserve: 1_200,
      orgs: new Map(),
      maxPerOrg: 500,
      maxRows: 250,
      leasesEndedBy: Infinity,
    })
    expect(rows.map(({ id }) => id).toSorted()).toEqual(expected.map(([id]) => id).toSorted())
    for (const claim of rows) {
      workers[worker].push({ id: claim.id, token, claim })
      const one = model.deliveries.get(claim.id)
      if (one === undefined) continue
      // A lease that ran out repeats the same attempt.
      const replay = one.lease === null ? one.replay : one.lease.replay
      if (one.lease === null) one.replay = null
      one.lease = { token, replay }
      one.state = 'in_flight'
      one.dueMs = model.nowMs + LEASE_MS
      expect(claim).toMatchObject({ attemptsMade: one.made, isReplay: replay !== null })
    }
  })

/** The rules, in the words of the specification. */
function end(model: Model, one: Expected, outcome: 'delivered' | 'failed'): void {
  const replay = one.lease?.replay ?? null
  one.lease = null
  one.made++
  one.reason = null
  if (replay === null) one.attempt++
  one.state = outcome
  if (outcome === 'delivered') one.nextMs = null
  else if (replay === null) one.nextMs = one.attempt < 6 ? model.nowMs + (DELAYS_MS[one.attempt] ?? 0) : null
  else if (replay === 'with_retries' && one.nextMs === null) {
    one.attempt = 1
    one.nextMs = model.nowMs + 60_000
  }
  if (model.isClosed) {
    one.replay = null
    one.nextMs = null
    if (outcome === 'failed') one.reason = 'endpoint_deleted'
  }
  one.dueMs = one.nextMs
  if (one.replay !== null) {
    one.state = 'pending'
    one.dueMs = model.nowMs
  }
}

const settledAll = (worker: 0 | 1, outcomes: readonly ('delivered' | 'failed')[]): Command =>
  command(`worker ${worker} records ${outcomes.join(', ')}`, async (model, { channel, workers }) => {
    const held = workers[worker].splice(0, outcomes.length)
    if (held.length === 0) return
    const attempts = held.map(({ id, token, claim }, index) => ({
      delivery: {
        id,
        laneId: claim.laneId,
        orgId,
        messageId: claim.messageId,
        type: claim.type,
        body: Buffer.alloc(0),
        secretVersion: null,
        trigger: claim.isReplay ? ('replay' as const) : ('schedule' as const),
        n: claim.attemptsMade + 1,
      },
      channel,
      token,
      result: result(outcomes[index] ?? 'failed'),
      endedMs: performance.now(),
    }))
    const recorded = await settleAttempts(app, attempts)
    for (const attempt of attempts) {
      const one = model.deliveries.get(attempt.delivery.id)
      // Fencing: only the newest lease records.
      const isMine = one?.lease?.token === attempt.token
      expect(recorded.has(attempt)).toBe(isMine)
      if (one !== undefined && isMine) end(model, one, attempt.result.outcome)
    }
  })

const crashed = (worker: 0 | 1): Command =>
  command(`worker ${worker} is killed`, (_model, { workers }) => {
    workers[worker] = []
    return Promise.resolve()
  })

const gaveBack = (worker: 0 | 1): Command =>
  command(`worker ${worker} gives back`, async (model, { workers }) => {
    const held = workers[worker].splice(0)
    await giveBackLeases(app.db, held, 0)
    for (const { id, token } of held) {
      const one = model.deliveries.get(id)
      if (one?.lease?.token !== token) continue
      asBefore(model, one)
    }
  })

/** A delivery whose attempt was not made. */
function asBefore(model: Model, one: Expected): void {
  const asked = [one.replay, one.lease?.replay]
  one.replay = asked.includes('with_retries') ? 'with_retries' : asked.includes('once') ? 'once' : null
  one.lease = null
  one.state = one.made === 0 || one.replay !== null ? 'pending' : 'failed'
  one.dueMs = model.nowMs
}

const endedAbandoned = (): Command =>
  command('leases end on a paused lane', async (model, { channel, laneId }) => {
    if (!model.isPaused || model.isClosed) return
    const abandoned = [...model.deliveries.values()].filter((one) => one.lease !== null && isDue(model, one))
    const { abandonedLaneIds } = await selectDue(app.db, [channel.name], Infinity)
    expect(abandonedLaneIds).toEqual(abandoned.length > 0 ? [laneId] : [])
    await endAbandoned(app.db, laneId, Infinity)
    for (const one of abandoned) asBefore(model, one)
  })

const replayed = (index: number, retries: boolean): Command =>
  command(`replay ${index}${retries ? ' with retries' : ''}`, async (model) => {
    const ids = [...model.deliveries.keys()]
    const id = ids[index % Math.max(1, ids.length)]
    if (id === undefined) return
    const one = model.deliveries.get(id)
    if (one === undefined) return
    const [answer] = await app.tx((tx) => requestReplay(tx, orgId, [id], { retries }))
    expect(answer?.answer).toBe(model.isClosed ? 'closed' : one.lease === null ? 'accepted' : 'accepted_in_flight')
    if (model.isClosed) return
    one.replay = retries || one.replay === 'with_retries' ? 'with_retries' : 'once'
    if (one.lease !== null) return
    one.state = 'pending'
    one.dueMs = model.nowMs
  })

const hastened: Command = command('hasten', async (model, { laneId }) => {
  await app.tx((tx) => hastenLane(tx, laneId))
  for (const one of model.deliveries.values()) {
    const isWaiting = one.lease === null && one.replay === null && one.dueMs !== null
    if (!isWaiting || one.made === 0 || one.made - one.attempt >= 3) continue
    one.replay = 'once'
    one.state = 'pending'
    one.dueMs = model.nowMs
  }
})

const paused = (isPaused: boolean): Command =>
  command(isPaused ? 'pause' : 'continue', async (model, { laneId }) => {
    await app.tx((tx) => changeLane(tx, laneId, { isPaused }))
    if (!model.isClosed) model.isPaused = isPaused
  })

const madeStrict = (isStrict: boolean): Command =>
  command(isStrict ? 'strict order' : 'no order', async (model, { laneId }) => {
    await app.tx((tx) => changeLane(tx, laneId, { isStrict }))
    if (!model.isClosed) model.isStrict = isStrict
  })

const closed: Command = command('close', async (model, { laneId }) => {
  await app.tx((tx) => closeLane(tx, laneId, 'endpoint_deleted'))
  model.isClosed = true
  for (const one of model.deliveries.values()) {
    if (one.dueMs === null || one.lease !== null) continue
    Object.assign(one, {
      state: 'failed',
      reason: 'endpoint_deleted',
      nextMs: null,
      dueMs: null,
      replay: null,
      lease: null,
    })
  }
})

const moved = (ms: number): Command =>
  command(`the clock moves by ${ms} ms`, async (model) => {
    model.nowMs += ms
    await clock.set(new Date(model.nowMs))
  })

const worker = fc.constantFrom(0 as const, 1 as const)
const commands = fc.commands<Model, Real, false>(
  [
    fc.integer({ min: 1, max: 3 }).map(enqueued),
    worker.map(claimed),
    worker.map(claimed),
    fc
      .tuple(
        worker,
        fc.array(fc.constantFrom('failed' as const, 'failed' as const, 'delivered' as const), {
          minLength: 1,
          maxLength: 4,
        }),
      )
      .map(([one, outcomes]) => settledAll(one, outcomes)),
    fc
      .tuple(worker, fc.array(fc.constant('failed' as const), { minLength: 1, maxLength: 4 }))
      .map(([one, outcomes]) => settledAll(one, outcomes)),
    worker.map(crashed),
    worker.map(gaveBack),
    fc.tuple(fc.nat({ max: 20 }), fc.boolean()).map(([index, retries]) => replayed(index, retries)),
    fc.constant(hastened),
    fc.boolean().map(paused),
    fc.constant(paused(false)),
    fc.boolean().map(madeStrict),
    fc.constant(endedAbandoned()),
    fc.constant(closed),
    // A second, the rest of a lease, each delay, and back.
    fc.constantFrom(1_000, 31_000, 65_000, 305_000, 1_805_000, 7_205_000, 43_205_000, -3_600_000).map(moved),
    fc.constantFrom(31_000, 65_000, 305_000, 1_805_000, 7_205_000, 43_205_000).map(moved),
  ],
  { maxCommands: 80, size: 'max' },
)

let runs = 0

test(
  'T-45: whatever two workers, members and clocks do, deliveries follow the rules',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), commands, async (isStrict, sequence) => {
        const channel = testChannel(undefined, { name: `model-${++runs}` })
        const laneId = await aLane(app, orgId, { channel: channel.name, isStrict })
        await clock.set(START)
        await fc.asyncModelRun(
          () => ({
            model: {
              nowMs: START.getTime(),
              isPaused: false,
              isClosed: false,
              isStrict,
              deliveries: new Map<string, Expected>(),
            },
            real: { laneId, channel, workers: [[], []] as [Held[], Held[]] },
          }),
          sequence,
        )
        // So that later runs hop over no lanes of earlier ones.
        await app.db.deleteFrom('outbox_lanes').where('id', '=', laneId).execute()
      }),
      { numRuns: cases(30, 3_000) },
    )
  },
  PROPERTY_TIMEOUT_MS,
)
