import { describe, expect, onTestFinished, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../kernel/ids.ts'
import { type ClaimedDelivery, NotSentError } from './channel.ts'
import { changeLane } from './change-lane.ts'
import { closeLane } from './close-lane.ts'
import { aWorker, result, testChannel, type TestChannel } from './engine.fixture.ts'
import { hastenLane } from './hasten-lane.ts'
import { eraseUserMessages } from './erase-messages.ts'
import { aLane, anOrg, someDeliveries } from './outbox.fixture.ts'
import { insertDeliveries, insertMessages } from './outbox.queries.ts'
import { readDelivery, type DeliveryDetail } from './read-delivery.ts'
import { requestReplay } from './request-replay.ts'
import { startDeliverer } from './start-deliverer.ts'

const t = await testApp()
const { app } = t
const orgId = await anOrg(app)

let channels = 0
/** A lane of its own channel: the workers of other tests do not see it. */
async function setUp(
  make: (name: string) => TestChannel,
  lane: Parameters<typeof aLane>[2] = {},
): Promise<{ channel: TestChannel; laneId: string; send(count: number, type?: string): Promise<string[]> }> {
  const name = `test-${++channels}`
  const laneId = await aLane(app, orgId, { ...lane, channel: name })
  return {
    channel: make(name),
    laneId,
    send: (count, type) => someDeliveries(app, orgId, laneId, count, { type: type ?? 'test.type' }),
  }
}

const read = async (id: string): Promise<DeliveryDetail> => {
  const detail = await readDelivery(app.db, orgId, id)
  if (detail === null) throw new Error(`no delivery ${id}`)
  return detail
}
const settled = (id: string, state: string) =>
  waitFor(`${id} to be ${state}`, async () => {
    const one = await read(id)
    return one.state === state && !one.isReplayRequested && one
  })
const replay = (id: string, retries = false) => app.tx((tx) => requestReplay(tx, orgId, [id], { retries }))

/** Attempts that end when the test says so. */
function held(): {
  send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<ReturnType<typeof result>>
  end(id: string, outcome?: 'delivered' | 'failed'): void
  readonly running: Set<string>
} {
  const ends = new Map<string, (outcome: 'delivered' | 'failed') => void>()
  const running = new Set<string>()
  return {
    running,
    send: ({ id }) =>
      new Promise((resolve) => {
        running.add(id)
        ends.set(id, (outcome) => {
          running.delete(id)
          resolve(result(outcome))
        })
      }),
    end: (id, outcome = 'delivered') => ends.get(id)?.(outcome),
  }
}

test('a delivery is sent when it is committed, and recorded with its attempt', async () => {
  const { channel, laneId, send } = await setUp((name) =>
    testChannel(() => result('delivered', { status: 201, durationMs: 12.4, details: { text: 'a\0b\ud800' } }), {
      name,
    }),
  )
  aWorker(app, channel)
  const [id = ''] = await send(1)
  const one = await settled(id, 'delivered')
  expect(one).toMatchObject({ attempt: 1, attemptsMade: 1, nextAttemptAt: null, lastStatus: 201, lastDurationMs: 12 })
  expect(one.attempts).toMatchObject([
    { n: 1, trigger: 'schedule', status: 201, durationMs: 12, details: { text: 'a\ufffdb\ufffd' } },
  ])
  expect(one.deliveredAt).not.toBeNull()
  expect(channel.sent).toMatchObject([{ id, laneId, trigger: 'schedule', n: 1, type: 'test.type' }])
  expect(channel.recorded).toMatchObject([{ delivery: { id }, isExhausted: false }])
})

test('an attempt that hangs ends with the timeout of its channel, one that throws with its error', async () => {
  const { channel, send } = await setUp((name) =>
    testChannel(({ type }) => (type === 'hang' ? new Promise(() => {}) : Promise.reject(new Error('no route'))), {
      name,
      timeoutMs: 50,
    }),
  )
  aWorker(app, channel)
  const [hanging = ''] = await send(1, 'hang')
  const [throwing = ''] = await send(1, 'throw')
  expect((await settled(hanging, 'failed')).attempts).toMatchObject([
    { status: null, errorCode: 'TIMEOUT', errorText: 'There was no answer within 0.05 s.' },
  ])
  expect((await settled(throwing, 'failed')).attempts).toMatchObject([{ errorCode: 'ERROR', errorText: 'no route' }])
})

test('a final failure ends the schedule; a receiver that asks to wait is given the time', async () => {
  const { channel, send } = await setUp((name) =>
    testChannel(({ type }) => result('failed', type === 'final' ? { isFinal: true } : { retryAfterMs: 3_600_000 }), {
      name,
    }),
  )
  aWorker(app, channel)
  const [final = ''] = await send(1, 'final')
  const [busy = ''] = await send(1, 'busy')
  expect(await settled(final, 'failed')).toMatchObject({ attempt: 1, attemptsMade: 1, nextAttemptAt: null })
  const waiting = await settled(busy, 'failed')
  const [attempt] = waiting.attempts
  // The second attempt of the schedule would be due after a minute.
  expect((waiting.nextAttemptAt?.getTime() ?? 0) - (attempt?.startedAt.getTime() ?? 0)).toBeGreaterThan(3_590_000)
  expect(channel.recorded.map(({ delivery, isExhausted }) => [delivery.id, isExhausted])).toEqual([
    [final, true],
    [busy, false],
  ])
})

describe('a receiver that answers again after an outage', () => {
  /** A lane of which each success hastens what waits. */
  const hastened = async (isAway: (delivery: ClaimedDelivery) => boolean) =>
    setUp(
      (name) =>
        testChannel((delivery) => result(isAway(delivery) ? 'failed' : 'delivered'), {
          name,
          async settled(tx, _app, attempts) {
            for (const { delivery, result: ended } of attempts)
              if (ended.outcome === 'delivered') await hastenLane(tx, delivery.laneId)
          },
        }),
      { maxInFlight: 1 },
    )

  test('is sent what waited for a retry, in the order of writing; what is held stays held', async () => {
    let isAway = true
    const { channel, laneId, send } = await hastened(() => isAway)
    aWorker(app, channel)
    const waiting: string[] = []
    // Their retries are due in the opposite order.
    for (let n = 1; n <= 4; n++) waiting.push(...(await send(1)))
    for (const id of waiting) await settled(id, 'failed')
    for (const [index, id] of waiting.entries()) {
      const dueAt = new Date(Date.now() + (10 - index) * 60_000)
      await app.db
        .updateTable('outbox_deliveries')
        .set({ next_attempt_at: dueAt, due_at: dueAt })
        .where('id', '=', id)
        .execute()
    }
    const [held = ''] = await someDeliveries(app, orgId, laneId, 1, { holdMs: 3_600_000 })
    isAway = false
    const [newest = ''] = await send(1)
    for (const id of waiting) await settled(id, 'delivered')
    expect(channel.sent.slice(waiting.length).map(({ id }) => id)).toEqual([newest, ...waiting])
    expect(await read(held)).toMatchObject({ state: 'pending', attemptsMade: 0, isReplayRequested: false })
  })

  test('is sent three times more what it never takes, whose schedule stays', async () => {
    const { channel, send } = await hastened(({ type }) => type === 'refused')
    aWorker(app, channel)
    const [refused = ''] = await send(1, 'refused')
    const dueAt = (await settled(refused, 'failed')).nextAttemptAt
    for (let n = 1; n <= 5; n++) {
      const [id = ''] = await send(1)
      await settled(id, 'delivered')
      await settled(refused, 'failed')
    }
    const after = await waitFor('four attempts', async () => {
      const one = await read(refused)
      return one.attemptsMade === 4 && one
    })
    expect(after).toMatchObject({ state: 'failed', attempt: 1, nextAttemptAt: dueAt })
  })
})

describe('bounds of a lane', () => {
  test('no more than max_in_flight, over two workers', async () => {
    const hold = held()
    const { channel, send } = await setUp((name) => testChannel(hold.send, { name }), { maxInFlight: 3 })
    aWorker(app, channel)
    aWorker(app, channel)
    const ids = await send(7)
    let most = 0
    while (channel.sent.length < 7) {
      const before = channel.sent.length
      await waitFor('three in flight', () => hold.running.size === Math.min(3, 7 - channel.recorded.length))
      most = Math.max(most, hold.running.size)
      hold.end([...hold.running][0] ?? '')
      await waitFor('the next one', () => channel.sent.length > before || before >= 7)
    }
    expect(most).toBe(3)
    for (const id of hold.running) hold.end(id)
    for (const id of ids) await settled(id, 'delivered')
  })

  test('a paused lane keeps its deliveries and continues', async () => {
    const { channel, laneId, send } = await setUp((name) => testChannel(undefined, { name }))
    await app.tx((tx) => changeLane(tx, laneId, { isPaused: true }))
    aWorker(app, channel)
    const [id = ''] = await send(1)
    const other = await setUp(() => channel)
    await app.db.updateTable('outbox_lanes').set({ channel: channel.name }).where('id', '=', other.laneId).execute()
    const [open = ''] = await other.send(1)
    await settled(open, 'delivered')
    expect((await read(id)).state).toBe('pending')
    await app.tx((tx) => changeLane(tx, laneId, { isPaused: false }))
    await settled(id, 'delivered')
  })

  test('strict order: the next waits until the one before is delivered or finally failed', async () => {
    const hold = held()
    const { channel, send } = await setUp((name) => testChannel(hold.send, { name, delaysMs: [0, 0] }), {
      isStrict: true,
    })
    aWorker(app, channel)
    const ids = await send(3)
    const [first = '', second = '', third = ''] = ids.toSorted()
    await waitFor('the first', () => hold.running.has(first))
    hold.end(first, 'failed')
    await waitFor('its second attempt', () => channel.sent.length === 2 && hold.running.has(first))
    expect([...hold.running]).toEqual([first])
    hold.end(first, 'failed')
    await waitFor('the second', () => hold.running.has(second))
    hold.end(second)
    await waitFor('the third', () => hold.running.has(third))
    // A replay does not wait.
    await replay(first)
    await waitFor('the replay', () => hold.running.has(first))
    hold.end(first)
    hold.end(third)
    for (const id of ids) await settled(id, 'delivered')
    expect(channel.sent.map(({ id }) => ids.toSorted().indexOf(id))).toEqual([0, 0, 1, 2, 0])
  })

  test('strict order is that of writing, whatever the clock of the service', async () => {
    const { channel, laneId } = await setUp((name) => testChannel(undefined, { name }), { isStrict: true })
    const prefix = newId()
    const messageIds = ['c', 'a', 'b'].map((name) => `${prefix}${name}`)
    await app.tx(async (tx) => {
      await insertMessages(
        tx,
        messageIds.map((id) => ({ id, orgId, type: 'test.type', userId: null, body: Buffer.alloc(1) })),
      )
      await insertDeliveries(
        tx,
        messageIds.map((id) => ({ id, messageId: id, laneId })),
      )
    })
    aWorker(app, channel)
    await waitFor('all', () => channel.recorded.length === 3)
    expect(channel.sent.map(({ id }) => id)).toEqual(messageIds)
  })

  test('max_per_second delays first attempts only, and uses its share', async () => {
    const times: number[] = []
    const { channel, send } = await setUp(
      (name) =>
        testChannel(
          ({ type }) => {
            if (type === 'first') times.push(performance.now())
            return result('delivered')
          },
          { name },
        ),
      { maxPerSecond: 100 },
    )
    aWorker(app, channel)
    const [replayed = ''] = await send(1, 'other')
    await settled(replayed, 'delivered')
    await send(90, 'first')
    await replay(replayed)
    await waitFor('the replay', () => channel.sent.some(({ trigger }) => trigger === 'replay'))
    expect(times.length).toBeLessThan(90)
    await waitFor('all', () => times.length === 90)
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000
    // A burst of 10, then 91 per second: in no second more than 100.
    expect(seconds).toBeGreaterThan(0.8)
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length))
    // Sending takes a moment: a busy machine may send the end of one second with the next.
    expect(most).toBeLessThan(110)
  })
})

describe('the end of an attempt in flight', () => {
  test('on a lane that was closed: failed with the reason, unless it was delivered', async () => {
    const hold = held()
    const { channel, laneId, send } = await setUp((name) => testChannel(hold.send, { name }))
    aWorker(app, channel)
    const [failing = '', succeeding = ''] = await send(2)
    await waitFor('both', () => hold.running.size === 2)
    await app.tx((tx) => closeLane(tx, laneId, 'endpoint_deleted'))
    hold.end(failing, 'failed')
    hold.end(succeeding)
    expect(await settled(failing, 'failed')).toMatchObject({
      reason: 'endpoint_deleted',
      nextAttemptAt: null,
      attempt: 1,
    })
    expect(await settled(succeeding, 'delivered')).toMatchObject({ reason: null })
  })

  test('of an erased message: it ends', async () => {
    const hold = held()
    const { channel, laneId } = await setUp((name) => testChannel(hold.send, { name }))
    const userId = newId()
    const [id = ''] = await someDeliveries(app, orgId, laneId, 1, { userId })
    aWorker(app, channel)
    await waitFor('it', () => hold.running.size === 1)
    await app.tx((tx) => eraseUserMessages(tx, userId))
    hold.end(id, 'failed')
    expect(await settled(id, 'failed')).toMatchObject({ isErased: true, nextAttemptAt: null, reason: 'erased' })
  })

  test('of an erased message: what it received is not kept', async () => {
    const end = Promise.withResolvers<void>()
    const { channel, laneId } = await setUp((name) =>
      testChannel(
        async () => {
          await end.promise
          return result('failed', { errorCode: 'REFUSED', errorText: 'no ada here', details: { body: 'ada' } })
        },
        { name },
      ),
    )
    const userId = newId()
    const [id = ''] = await someDeliveries(app, orgId, laneId, 1, { userId })
    aWorker(app, channel)
    await waitFor('it', () => channel.sent.length === 1)
    await app.tx((tx) => eraseUserMessages(tx, userId))
    end.resolve()
    expect((await settled(id, 'failed')).attempts).toMatchObject([
      { status: 500, errorCode: 'REFUSED', errorText: null, details: {} },
    ])
  })

  test('with a replay asked for: it is sent once more, also after success', async () => {
    const hold = held()
    const { channel, send } = await setUp((name) => testChannel(hold.send, { name }))
    aWorker(app, channel)
    const [id = ''] = await send(1)
    await waitFor('the attempt', () => hold.running.has(id))
    expect(await replay(id)).toMatchObject([{ answer: 'accepted_in_flight' }])
    expect(await replay(id)).toMatchObject([{ answer: 'accepted_in_flight' }])
    expect(channel.sent).toHaveLength(1)
    hold.end(id)
    await waitFor('the replay', () => channel.sent.length === 2 && hold.running.has(id))
    hold.end(id)
    const { attempts } = await settled(id, 'delivered')
    expect(attempts.map(({ n, trigger }) => [n, trigger])).toEqual([
      [1, 'schedule'],
      [2, 'replay'],
    ])
    expect(channel.sent).toHaveLength(2)
  })
})

describe('leases', () => {
  const endLease = (id: string) =>
    app.db
      .updateTable('outbox_deliveries')
      .set({ due_at: new Date(Date.now() - 60_000) })
      .where('id', '=', id)
      .execute()

  test('an attempt of a worker that ended is repeated with the same number; its late result is dropped', async () => {
    const hold = held()
    const { channel, send } = await setUp((name) => testChannel(hold.send, { name }))
    const late = held()
    const lateChannel = testChannel(late.send, { name: channel.name })
    const stop = aWorker(app, lateChannel)
    const [id = ''] = await send(1)
    await waitFor('the first worker', () => late.running.has(id))
    // Another process, whose claim is the next: the first one is not asked again while it claims nothing.
    await app.db.updateTable('outbox_deliveries').set({ lease_token: newId() }).where('id', '=', id).execute()
    late.end(id)
    await waitFor('the late result', () => lateChannel.recorded.length === 0 && late.running.size === 0)
    await stop()
    expect((await read(id)).attempts).toEqual([])
    aWorker(app, channel)
    await endLease(id)
    await waitFor('the second worker', () => hold.running.has(id))
    hold.end(id)
    expect((await settled(id, 'delivered')).attempts.map(({ n }) => n)).toEqual([1])
    expect(channel.sent).toMatchObject([{ n: 1, trigger: 'schedule' }])
  })

  test.for([false, true])('a replay whose worker ended stays a replay; strict order: %s', async (isStrict) => {
    const { channel, send } = await setUp((name) => testChannel(undefined, { name }), { isStrict })
    const [id = ''] = await send(1)
    const lease = {
      state: 'in_flight',
      lease_token: newId(),
      lease_replay: 'once',
      replay: null,
      next_attempt_at: null,
    } as const
    await app.db.updateTable('outbox_deliveries').set(lease).where('id', '=', id).execute()
    await endLease(id)
    aWorker(app, channel)
    await settled(id, 'delivered')
    expect(channel.sent).toMatchObject([{ trigger: 'replay', n: 1 }])
  })

  test('a worker that ended on a lane that is paused leaves its delivery as before the attempt', async () => {
    const { channel, laneId, send } = await setUp((name) => testChannel(undefined, { name }))
    const [id = '', failed = ''] = await send(2)
    await app.tx((tx) => changeLane(tx, laneId, { isPaused: true }))
    const lease = { state: 'in_flight', lease_token: newId() } as const
    await app.db.updateTable('outbox_deliveries').set(lease).where('id', 'in', [id, failed]).execute()
    await app.db
      .updateTable('outbox_deliveries')
      .set({ attempts_made: 1, attempt: 1 })
      .where('id', '=', failed)
      .execute()
    await endLease(id)
    await endLease(failed)
    aWorker(app, channel)
    await settled(id, 'pending')
    await settled(failed, 'failed')
    expect(channel.sent).toEqual([])
    await app.tx((tx) => changeLane(tx, laneId, { isPaused: false }))
    expect((await settled(failed, 'delivered')).attempt).toBe(2)
    await settled(id, 'delivered')
  })

  test('no attempt begins when too little is left of its lease', async () => {
    let prepared = 0
    const { channel, send } = await setUp((name) => {
      const sound = testChannel(undefined, { name, timeoutMs: 700 })
      return {
        ...sound,
        prepare: async (given, batch) => {
          const startedMs = performance.now()
          if (++prepared === 1) await waitFor('a slow database', () => performance.now() - startedMs > 400)
          return sound.prepare(given, batch)
        },
      }
    })
    const deliverer = startDeliverer(app, [channel], { leaseMs: 1_000 })
    onTestFinished(() => deliverer.stop(2_000))
    const [id = ''] = await send(1)
    expect((await settled(id, 'delivered')).attempts.map(({ n }) => n)).toEqual([1])
    expect(prepared).toBeGreaterThan(1)
    expect(channel.sent).toHaveLength(1)
    expect(t.logLines).toContainEqual(expect.objectContaining({ msg: 'a channel took too long to prepare' }))
  })

  test('a worker whose own lease seems to have ended continues its attempt and records it', async () => {
    const hold = held()
    const { channel, send } = await setUp((name) => testChannel(hold.send, { name }))
    aWorker(app, channel)
    const [id = ''] = await send(1)
    await waitFor('the attempt', () => hold.running.has(id))
    await endLease(id)
    await waitFor('the new lease', async () => {
      const row = await app.db.selectFrom('outbox_deliveries').select('due_at').where('id', '=', id).executeTakeFirst()
      return (row?.due_at?.getTime() ?? 0) > Date.now()
    })
    hold.end(id)
    await settled(id, 'delivered')
    expect(channel.sent).toHaveLength(1)
  })

  test('a worker that stops lets attempts end and gives the others back', async () => {
    const hold = held()
    const { channel, send } = await setUp((name) => testChannel(hold.send, { name }))
    const stop = aWorker(app, channel)
    const [ending = '', hanging = ''] = await send(2)
    await waitFor('both', () => hold.running.size === 2)
    const stopped = stop()
    hold.end(ending)
    await stopped
    expect(await read(ending)).toMatchObject({ state: 'delivered' })
    expect(await read(hanging)).toMatchObject({ state: 'pending', attempts: [] })
    const next = testChannel(undefined, { name: channel.name })
    aWorker(app, next)
    await settled(hanging, 'delivered')
  })
})

describe('a channel that fails', () => {
  test('to prepare: its deliveries wait and no attempt counts', async () => {
    let failures = 0
    const { channel, send } = await setUp((name) => {
      const sound = testChannel(undefined, { name })
      return {
        ...sound,
        prepare: (given, batch) =>
          ++failures === 1 ? Promise.reject(new Error('no secrets')) : sound.prepare(given, batch),
      }
    })
    aWorker(app, channel)
    const [id = ''] = await send(1)
    expect((await settled(id, 'delivered')).attempts.map(({ n }) => n)).toEqual([1])
    expect(failures).toBe(2)
    expect(t.logLines).toContainEqual(expect.objectContaining({ msg: 'a channel could not prepare' }))
  })

  test('to send anything: no attempt counts, and it is claimed again', async () => {
    let busy = 2
    const { channel, send } = await setUp((name) =>
      testChannel(
        () => (busy-- > 0 ? Promise.reject(new NotSentError('no connection is free')) : result('delivered')),
        {
          name,
        },
      ),
    )
    aWorker(app, channel)
    const [id = ''] = await send(1)
    expect((await settled(id, 'delivered')).attempts).toMatchObject([{ n: 1, trigger: 'schedule', status: 200 }])
    expect(channel.sent).toHaveLength(3)
  })

  test('to send anything: the rate of the lane is not used up, and the log and the figures say it', async () => {
    const { channel, laneId, send } = await setUp(
      (name) =>
        testChannel(
          async () => {
            // It stays as it is given back.
            await app.tx((tx) => changeLane(tx, laneId, { isPaused: true }))
            throw new NotSentError('no connection is free')
          },
          { name },
        ),
      { maxPerSecond: 1 },
    )
    const deliverer = startDeliverer(app, [channel])
    onTestFinished(() => deliverer.stop(2_000))
    const [id = ''] = await send(1)
    await waitFor('it to be given back, and the second that its attempt would have used', async () => {
      const { rows } = await app.db.query<{ isBack: boolean }>(
        `select d.lease_token is null and l.rate_used_until < d.due_at as "isBack"
         from outbox_deliveries d join outbox_lanes l on l.id = d.lane_id where d.id = $1 and l.paused_at is not null`,
        [id],
      )
      return rows[0]?.isBack === true
    })
    expect(await read(id)).toMatchObject({ state: 'pending', attempts: [] })
    expect(deliverer.figures().notSent).toEqual(new Map([[channel.name, 1]]))
    expect(t.logLines).toContainEqual(
      expect.objectContaining({ msg: 'deliveries could not be sent yet and wait', channel: channel.name }),
    )
  })

  test('to record: the attempt is recorded without its part, and the others with it', async () => {
    const done: string[] = []
    const { channel, send } = await setUp((name) =>
      testChannel(undefined, {
        name,
        settled: (_tx, _app, attempts) => {
          if (attempts.some(({ delivery }) => delivery.type === 'bad')) return Promise.reject(new Error('a bug'))
          done.push(...attempts.map(({ delivery }) => delivery.id))
          return Promise.resolve()
        },
      }),
    )
    const [good = ''] = await send(1, 'good')
    const [bad = ''] = await send(1, 'bad')
    aWorker(app, channel)
    await settled(bad, 'delivered')
    await settled(good, 'delivered')
    expect(done).toEqual([good])
  })

  test('to commit: the others are recorded, and the attempt at last without details', async () => {
    const broken = () => Promise.reject(new Error('a chain is broken'))
    const { channel, send } = await setUp((name) =>
      testChannel(({ type }) => result('delivered', { details: { type } }), {
        name,
        settled: (tx, _app, attempts) => {
          if (attempts.some(({ delivery }) => delivery.type === 'bad')) tx.defer(broken, [1])
          return Promise.resolve()
        },
      }),
    )
    const [bad = ''] = await send(1, 'bad')
    const good = await send(3, 'good')
    aWorker(app, channel)
    for (const id of good)
      expect((await settled(id, 'delivered')).attempts).toMatchObject([{ details: { type: 'good' } }])
    expect((await settled(bad, 'delivered')).attempts).toMatchObject([{ n: 1, status: 200, details: {} }])
    expect(channel.sent).toHaveLength(4)
  })

  test('with a code that cannot be stored: it is made storable', async () => {
    const { channel, send } = await setUp((name) =>
      testChannel(() => result('failed', { errorCode: 'A\0B' }), { name }),
    )
    const [id = ''] = await send(1)
    aWorker(app, channel)
    expect((await settled(id, 'failed')).attempts).toMatchObject([{ errorCode: 'A\ufffdB' }])
    expect(channel.sent).toHaveLength(1)
  })
})

test('a hanging lane delays no other', async () => {
  const name = `test-${++channels}`
  const channel = testChannel(({ type }) => (type === 'hang' ? new Promise(() => {}) : result('delivered')), { name })
  const dead = await aLane(app, orgId, { channel: name })
  const alive = await aLane(app, orgId, { channel: name })
  await someDeliveries(app, orgId, dead, 300, { type: 'hang' })
  aWorker(app, channel)
  await waitFor('the dead lane to be full', () => channel.sent.length === 100)
  const ids = await someDeliveries(app, orgId, alive, 50)
  for (const id of ids) await settled(id, 'delivered')
  expect(channel.sent.filter(({ laneId }) => laneId === dead)).toHaveLength(100)
})
