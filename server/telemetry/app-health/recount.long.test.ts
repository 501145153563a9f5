import { expect, test } from 'vitest'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { SESSION_STATUSES } from '../../events/protocol/session.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { BUCKET_SECONDS } from './buckets.ts'
import {
  type Attributes,
  DIMENSIONS,
  type Dimension,
  LEVEL_DIMENSIONS,
  LEVELS,
  countColumn,
  COUNTS,
  type Counts,
  USER_SETS,
  type UserSet,
} from './dimensions.ts'
import { foldHealth } from './fold-health.ts'
import { tryLockFolds } from './fold.queries.ts'
import { readHealthBy, readHealthRanges, readHealthSeries, readHealthTotals } from './read-health.ts'
import { type ReceivedSession, recordSessions } from './record-sessions.ts'
import { allCells, cellKey, type Counted, countedOnce, figuresOf, sumCells } from './recount.fixture.ts'
import { anAttribute, anUpdate, countsFact, NOW, sessionFact, sidOf } from './sessions.fixture.ts'

/** Every number of every level and bucket equals a recount from the raw items. */

const t = await testApp()
const { app, clock } = t
clock.set(new Date(NOW))
const other = await secondApp(t)
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Park and Miller: the same numbers in every run. */
function randomOf(seed: number) {
  let state = seed
  const below = (n: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % n
  }
  return { below, pick: <T>(from: readonly T[]): T => from[below(from.length)] as T }
}
type Random = ReturnType<typeof randomOf>

const PHONES = { os: 'Android', device: 'Pixel 8', device_class: 'high' } as const
/** Users whose device is known from events. */
const deviceOf = (did: string): Partial<Attributes> | undefined => (did.endsWith('7') ? PHONES : undefined)

function someAttributes({ pick }: Random) {
  const [os, device] = pick([
    [null, null],
    [null, null],
    ['iOS', 'iPhone'],
    ['iOS', 'iPad'],
    ['Windows', null],
  ] as const)
  return anAttribute({ release: pick(['1.0', '1.1', '2.0,beta']), environment: pick(['production', 'qa']), os, device })
}

/** Up to five updates of each session, of the last five days, some at a border of days; and counts of the SDK. */
function someFacts(projectId: string, random: Random): ReceivedSession[] {
  const { below, pick } = random
  const facts: ReceivedSession[] = []
  const aStart = (): number => {
    const at = NOW - below(5 * DAY_MS)
    return pick([
      at,
      at,
      at,
      Math.floor(at / DAY_MS) * DAY_MS,
      Math.floor(at / DAY_MS) * DAY_MS - 1,
      NOW - below(7_200_000),
    ])
  }
  for (let n = 0; n < 260; n++) {
    const own = {
      sid: sidOf(`${projectId} ${n}`),
      did: pick([null, ...Array.from({ length: 30 }, (_, user) => `user ${user}`)]),
      startedAt: aStart(),
      attributes: someAttributes(random),
    }
    for (let updates = 1 + below(5); updates > 0; updates--) {
      const status = pick(['ok', 'ok', ...SESSION_STATUSES] as const)
      facts.push(
        sessionFact(
          projectId,
          anUpdate({
            ...own,
            isInit: pick([true, false]),
            status,
            errors: pick([0, 0, 0, 1, 3]),
            timestamp: own.startedAt + below(1_000_000),
            durationMs: pick([null, below(100_000), below(100)]),
            mechanism: status === 'abnormal' ? pick(['anr_foreground', 'anr_background', 'killed', null]) : null,
          }),
        ),
      )
    }
  }
  for (let n = 0; n < 60; n++) {
    const did = pick([null, `user ${below(40)}`])
    facts.push(
      countsFact(
        projectId,
        [
          { startedAt: aStart(), did, exited: below(50), errored: below(3), crashed: below(2) },
          { startedAt: aStart(), did, exited: 1, unhandled: below(2), abnormal: below(2) },
        ],
        someAttributes(random),
      ),
    )
  }
  return facts
}

/** Updates repeat and come in any order; counts of the SDK arrive once. */
function inAnyOrder(facts: readonly ReceivedSession[], { below }: Random): ReceivedSession[] {
  const repeated = facts.filter((one) => 'update' in one.fact && below(3) === 0)
  return [...facts, ...repeated]
    .map((fact) => ({ fact, place: below(1_000_000) }))
    .sort((a, b) => a.place - b.place)
    .map(({ fact }) => fact)
}

const killed = new Error('killed')
/** The app of a process that is killed before its transaction commits. */
const dying = (of: App): App =>
  Object.create(of, {
    tx: {
      value: <T>(work: Parameters<App['tx']>[0]) =>
        of.tx(async (tx): Promise<T> => {
          await work(tx)
          throw killed
        }),
    },
  }) as App

/** Two processes record batches in parallel and fold meanwhile; some are killed, and what they had comes again. */
async function deliver(facts: readonly ReceivedSession[], { below }: Random): Promise<void> {
  const batches: ReceivedSession[][] = []
  for (let at = 0; at < facts.length;) {
    const size = 1 + below(40)
    batches.push(facts.slice(at, at + size))
    at += size
  }
  const record = (by: App, batch: readonly ReceivedSession[] | undefined) =>
    batch === undefined ? [] : by.tx((tx) => recordSessions(tx, new Date(NOW), batch))
  for (let at = 0; at < batches.length; at += 2) {
    if (below(5) === 0) await expect(record(dying(app), batches[at])).rejects.toBe(killed)
    if (below(5) === 0) await foldHealth(dying(other)).catch((error: unknown) => expect(error).toBe(killed))
    await Promise.all([
      record(app, batches[at]),
      record(other, batches[at + 1]),
      ...(below(3) === 0 ? [foldHealth(below(2) === 0 ? app : other)] : []),
    ])
  }
}

type Stored = Counts &
  Record<UserSet, Buffer | null> &
  Record<`${UserSet}_count`, number | null> &
  Record<Dimension, string | null> & { level: number; bucket_seconds: number; bucket: Date; durations: Buffer | null }

const queryOf = (projectId: string, from: number, to: number, filter: Partial<Record<Dimension, string[]>> = {}) =>
  ({
    projectIds: [projectId],
    source: 'sessions',
    from: new Date(from),
    to: new Date(to),
    now: new Date(NOW),
    filter,
  }) as const

/** Hours and users of two days, each with its own total, beside the slow sum. */
async function expectRanges(query: ReturnType<typeof queryOf>, counted: readonly Counted[]): Promise<void> {
  const today = Math.floor(NOW / DAY_MS) * DAY_MS
  const starts = [today, today - DAY_MS]
  const ranges = starts.map((at) => ({ from: new Date(at), to: new Date(at + DAY_MS) }))
  const found = await readHealthRanges(app.db, query, ranges, 3_600, { points: USER_SETS, total: USER_SETS })
  for (const [index, { points, users }] of found.entries()) {
    const day = starts[index] ?? 0
    const ofDay = counted.filter(({ at }) => at >= day && at < day + DAY_MS)
    const cells = sumCells(ofDay, ({ at }) => ['whole', String(Math.floor(at / HOUR_MS) * HOUR_MS)])
    expect(figuresOf(cells.get('whole'))).toMatchObject(users)
    expect(points).toHaveLength(24)
    for (const { t: time, ...figures } of points) expect(figures).toEqual(figuresOf(cells.get(String(time.getTime()))))
  }
}

test.each([11, 987_654])('of sessions in any order, repeated, by two processes, with kills (seed %i)', async (seed) => {
  const random = randomOf(seed)
  const projectId = newId()
  const facts = someFacts(projectId, random)
  for (let user = 0; user < 40; user++) {
    const did = `user ${user}`
    if (deviceOf(did) === undefined) continue
    await app.db.query(
      `insert into user_devices (project_id, user_hash, os, device, device_class, seen_day) values ($1, $2, $3, $4, $5, '2026-11-20')`,
      [projectId, hashUser(projectId, did), PHONES.os, PHONES.device, PHONES.device_class],
    )
  }
  await deliver(inAnyOrder(facts, random), random)
  const counted = countedOnce(facts, deviceOf)

  // Readers, while some deltas are folded and some are not, and afterwards.
  for (const fold of [false, true]) {
    if (fold) await foldHealth(app)
    for (let n = 0; n < 12; n++) {
      const to = Math.floor((NOW - random.below(DAY_MS)) / MINUTE_MS) * MINUTE_MS
      const from = to - Math.floor(random.below(DAY_MS) / MINUTE_MS) * MINUTE_MS
      const { attributes } = random.pick(counted)
      const dimensions = random.pick([
        [],
        ['release'],
        ['os'],
        ['release', 'environment'],
        ['device', 'release'],
      ] as const)
      const filter = Object.fromEntries(dimensions.map((one) => [one, [attributes[one], 'none of them']]))
      const matching = counted.filter(
        (one) => one.at >= from && one.at < to && dimensions.every((name) => one.attributes[name] === attributes[name]),
      )
      const query = queryOf(projectId, from, to, filter)
      const whole = sumCells(matching, () => ['whole']).get('whole')
      expect(await readHealthTotals(app.db, query, USER_SETS)).toEqual(figuresOf(whole))
      await expectRanges(
        query,
        counted.filter((one) => dimensions.every((name) => one.attributes[name] === attributes[name])),
      )
      const by = random.pick(DIMENSIONS)
      const names = sumCells(matching, (one) => [one.attributes[by]])
      const read = await readHealthBy(app.db, query, by, { max: 100, sets: USER_SETS })
      expect(Object.fromEntries(read.rows.map(({ name, ...row }) => [name, row]))).toEqual(
        Object.fromEntries([...names].filter(([name]) => name !== '').map(([name, cell]) => [name, figuresOf(cell)])),
      )
      expect(read.unknown).toMatchObject(figuresOf(names.get('')))
    }
    for (const step of BUCKET_SECONDS.filter((seconds) => seconds > 60)) {
      const points = await readHealthSeries(app.db, queryOf(projectId, NOW - 5 * DAY_MS, NOW), step, USER_SETS)
      const cells = sumCells(counted, ({ at }) => [String(Math.floor(at / (step * 1000)) * step * 1000)])
      for (const { t: time, ...figures } of points)
        expect(figures).toEqual(figuresOf(cells.get(String(time.getTime()))))
    }
  }

  // Every row of every level and bucket.
  const { rows } = await app.db.query<Stored>(
    `select r.*, ${[...USER_SETS, 'durations'].map((name) => `s.${name}`).join()}, coalesce(a.level, 0) as level,
       ${DIMENSIONS.map((one) => `a.${one}`).join()} from health_rollups r
     left join health_sketches s using (project_id, source, bucket_seconds, attributes_id, bucket)
     left join health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id where r.project_id = $1`,
    [projectId],
  )
  const expected = allCells(counted, NOW)
  const stored = new Map(
    rows.map((row) => {
      const level = LEVELS[row.level] ?? 'all'
      const values = LEVEL_DIMENSIONS[level].map((dimension) => row[dimension] ?? 'null')
      return [cellKey(level, values, row.bucket_seconds, row.bucket.getTime()), row]
    }),
  )
  expect([...stored.keys()].sort()).toEqual([...expected.keys()].sort())
  expect(expected.size).toBeGreaterThan(2_000)
  for (const [key, cell] of expected) {
    const row = stored.get(key)
    if (row === undefined) continue
    expect([key, ...COUNTS.map((name) => row[name])]).toEqual([key, ...COUNTS.map((name) => cell.counts[name])])
    for (const set of USER_SETS) {
      const bytes = cell.users[set].size === 0 ? undefined : HyperLogLog.of(cell.users[set]).toBytes().toString('hex')
      expect([key, set, row[set]?.toString('hex')]).toEqual([key, set, bytes])
      const users = cell.users[set].size === 0 ? null : cell.users[set].size
      expect([key, set, row[countColumn(set)]]).toEqual([key, set, users])
    }
    const sketch = row.durations === null ? new DDSketch() : DDSketch.fromBytes(row.durations)
    expect([key, sketch.count, sketch.sum]).toEqual([
      key,
      cell.durations.length,
      cell.durations.reduce((a, b) => a + b, 0),
    ])
    const sorted = cell.durations.toSorted((a, b) => a - b)
    for (const q of [0, 0.5, 0.95, 1]) {
      const exact = sorted[Math.floor(q * (sorted.length - 1))] ?? 0
      expect(Math.abs((sketch.quantile(q) ?? 0) - exact)).toBeLessThanOrEqual(exact * 0.0101)
    }
  }
  expect((await app.db.query('select from health_deltas where project_id = $1', [projectId])).rows).toEqual([])
})

test('a fold leaves out projects that another process folds', async () => {
  const [busy, free] = [newId(), newId()]
  await app.tx((tx) => recordSessions(tx, clock.now(), [sessionFact(busy, anUpdate()), sessionFact(free, anUpdate())]))
  const waiting = async () =>
    (await app.db.query<{ id: string }>('select distinct project_id as id from health_deltas')).rows.map(({ id }) => id)
  await app.tx(async (tx) => {
    expect(await tryLockFolds(tx, [busy])).toEqual([busy])
    expect(await foldHealth(app)).toBeGreaterThan(0)
    expect(await waiting()).toEqual([busy])
  })
  await foldHealth(app)
  expect(await waiting()).toEqual([])
})

test('no project is folded beside a process of a former version, which locks all', async () => {
  const projectId = newId()
  await app.tx((tx) => recordSessions(tx, clock.now(), [sessionFact(projectId, anUpdate())]))
  await app.tx(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(7201994334)')
    expect(await foldHealth(app)).toBe(0)
  })
  expect(await foldHealth(app)).toBeGreaterThan(0)
})
