import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  ALL_ID,
  attributesId,
  type Dimension,
  LEVEL_DIMENSIONS,
  type Level,
  levelNumber,
  countColumn,
  COUNTS,
  SOURCES,
  sourceNumber,
  USER_SETS,
} from '#server/telemetry/app-health/dimensions.ts'
import { compactPerformance } from '#server/telemetry/performance/compact-performance.ts'
import { DDSketch } from '#server/telemetry/sketch/ddsketch.ts'
import { HyperLogLog } from '#server/telemetry/sketch/hyperloglog.ts'
import pg from 'pg'
import { waitUntilDrained } from './feed.ts'
import { random } from './payloads.ts'
import { withDatabase } from './read-data.ts'
import { startService } from './service.ts'
import { addProject, setUpProject } from './setup-project.ts'

/**
 * Data directories with rollups worth very many sessions. Rollups are written by SQL as a fold would leave them: every
 * level, every bucket that a chart of seven or thirty days, the range before it or 56 days of the store guard reads, with
 * sketches of as many users as the bucket has.
 */

const CACHE = join(import.meta.dirname, '.cache')
const DAYS = 60
/** Shares of the sessions. */
const PROJECTS = [0.8, 0.15, 0.05]
const RELEASES = 40
const DEVICES = 1_000
const COMBINATIONS = 1_000

const Seeded = z.object({
  projectIds: z.array(z.string()),
  numbers: z.array(z.number()),
  publicKeys: z.array(z.string()),
  release: z.string(),
  rollups: z.number(),
})
type Run = (sql: string, values?: unknown[]) => Promise<pg.QueryResult<Record<string, unknown>>>

export type SeededMetrics = z.infer<typeof Seeded> & {
  readonly dataDir: string
  /** Releases of the rollups, by share. */
  readonly releases: readonly string[]
}

export async function seededMetrics(millions: number, progress: (line: string) => void): Promise<SeededMetrics> {
  const dataDir = join(CACHE, `metrics-${millions}`)
  const releases = list(RELEASES, releaseName)
  // Charts end now, so data of yesterday would be another load.
  const mark = join(dataDir, `seeded-${new Date().toISOString().slice(0, 10)}.json`)
  if (existsSync(mark)) return { ...Seeded.parse(JSON.parse(readFileSync(mark, 'utf8'))), dataDir, releases }
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  chmodSync(dataDir, 0o755)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, dataDir })
  const projects = await (async () => {
    try {
      const first = await setUpProject(service.url)
      await sendTransactions(service.url, first)
      await waitUntilDrained(service)
      const others = [
        await addProject(service.url, first.cookie, 'Second'),
        await addProject(service.url, first.cookie, 'Third'),
      ]
      return [first, ...others]
    } finally {
      await service.stop()
    }
  })()
  const rollups = await withDatabase(dataDir, async (app, connectionString) => {
    await compactPerformance(app)
    // A separate connection: those of the pool cancel statements that take long.
    const client = new pg.Client({ connectionString })
    await client.connect()
    const run: Run = (sql, values = []) => client.query(sql, values)
    try {
      await prepareSketches(run)
      for (const [index, { projectId }] of projects.entries()) {
        const sessions = ((PROJECTS[index] ?? 0) * millions * 1_000_000) / DAYS
        for (const source of SOURCES) {
          progress(`${source} of project ${index + 1}`)
          await seedProject(run, projectId, source === 'sessions' ? sessions : sessions / 50, source)
        }
        await seedReleases(run, projectId)
      }
      await run('drop table bench_sketches')
      progress('performance')
      await copyPerformance(run)
      await run('vacuum (analyze)')
      const { rows } = await run('select count(*)::int as n from health_rollups')
      return Number(rows[0]?.['n'])
    } finally {
      await client.end()
    }
  })
  const seeded = {
    projectIds: projects.map(({ projectId }) => projectId),
    numbers: projects.map(({ number }) => number),
    publicKeys: projects.map(({ publicKey }) => publicKey),
    release: releaseName(0),
    rollups,
  }
  writeFileSync(mark, JSON.stringify(seeded))
  return { ...seeded, dataDir, releases }
}

const releaseName = (index: number): string => `shop@4.${RELEASES - index}.0`

/** Sketches of 2^0 … 2^21 users, some of each. */
async function prepareSketches(run: Run): Promise<void> {
  await run('create table bench_sketches (class int, variant int, bytes bytea, primary key (class, variant))')
  const rand = random(3)
  for (let size = 0; size <= 21; size++)
    for (let variant = 0; variant < 4; variant++) {
      const users = new HyperLogLog()
      for (let i = 0; i < 2 ** size; i++) users.add(Math.floor(rand() * 2 ** 52))
      await run('insert into bench_sketches values ($1, $2, $3)', [size, variant, users.toBytes()])
    }
}

type Value = { readonly level: Level; readonly values: Partial<Record<Dimension, string>>; readonly share: number }

/** Shares by Zipf's law: few values have most. */
function zipf<T>(items: readonly T[]): { item: T; share: number }[] {
  const sum = items.reduce((total, _, index) => total + 1 / (index + 1), 0)
  return items.map((item, index) => ({ item, share: 1 / (index + 1) / sum }))
}

const list = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index))

function allValues(): Value[] {
  const releases = zipf(list(RELEASES, releaseName))
  const environments = zipf(['production', 'staging', 'development'])
  const systems = zipf(['Android', 'iOS', 'Linux'])
  const devices = zipf(list(DEVICES, (index) => `Phone ${index}`))
  const classes = zipf(['medium', 'high', 'low'])
  const combinations = zipf(list(COMBINATIONS, (index) => index)).map(({ item, share }) => ({
    level: 'combination' as const,
    share,
    values: {
      release: releases[item % RELEASES]?.item ?? '',
      environment: environments[item % 3]?.item ?? '',
      os: systems[item % 3]?.item ?? '',
      device: devices[Math.floor(item / 3)]?.item ?? '',
      device_class: classes[item % 3]?.item ?? '',
    },
  }))
  const single = (level: Level & Dimension, of: { item: string; share: number }[]): Value[] =>
    of.map(({ item, share }) => ({ level, share, values: { [level]: item } }))
  return [
    { level: 'all', share: 1, values: {} },
    ...single('release', releases),
    ...single('environment', environments),
    ...single('os', systems),
    ...single('device', devices),
    ...single('device_class', classes),
    ...releases.flatMap((release) =>
      environments.map((environment) => ({
        level: 'release_environment' as const,
        share: release.share * environment.share,
        values: { release: release.item, environment: environment.item },
      })),
    ),
    ...combinations,
  ]
}

/**
 * How far back buckets of each size are written; those of devices and combinations, which charts read whole days of, not
 * as far.
 */
const BUCKETS = [
  { seconds: 60, days: 0.1, ofMany: 0.02 },
  { seconds: 900, days: 2, ofMany: 0.1 },
  { seconds: 3_600, days: 15, ofMany: 1 },
  { seconds: 21_600, days: DAYS, ofMany: DAYS },
  { seconds: 86_400, days: DAYS, ofMany: DAYS },
  { seconds: 345_600, days: DAYS, ofMany: DAYS },
] as const
const MANY: readonly Level[] = ['device', 'combination']

async function seedProject(run: Run, projectId: string, perDay: number, source: (typeof SOURCES)[number]) {
  const values = allValues().map((value) => ({
    ...value,
    id: value.level === 'all' ? ALL_ID : attributesId(value.level, value.values),
  }))
  const named = values.filter(({ level }) => level !== 'all')
  const column = (dimension: Dimension) =>
    named.map(({ level, values: of }) => (LEVEL_DIMENSIONS[level].includes(dimension) ? (of[dimension] ?? '') : null))
  await run(
    `insert into health_attributes (project_id, id, level, release, environment, os, device, device_class, created_day, last_used_day)
     select $1::uuid, k.*, (current_date - 60), current_date
     from unnest($2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) k
     on conflict do nothing`,
    [
      projectId,
      named.map(({ id }) => id),
      named.map(({ level }) => levelNumber(level)),
      ...(['release', 'environment', 'os', 'device', 'device_class'] as const).map(column),
    ],
  )
  const sketch = (share: number) =>
    `(select b.bytes from bench_sketches b where b.class = least(21, floor(log(2, greatest(1, t.total * ${share}))))::int
       and b.variant = (v.id % 4)::int and t.total * ${share} >= 1)`
  const counts: Readonly<Record<(typeof COUNTS)[number], string>> = {
    total: 't.total',
    errored: '(t.total * 0.02)::bigint',
    unhandled: '(t.total * 0.004)::bigint',
    abnormal: '(t.total * 0.003)::bigint',
    crashed: '(t.total * 0.004)::bigint',
    anr_foreground: '(t.total * 0.002)::bigint',
    anr_background: '(t.total * 0.001)::bigint',
    critical: source === 'events' ? '(t.total * 0.2)::bigint' : '0',
  }
  const users: Readonly<Record<(typeof USER_SETS)[number], number>> = {
    users: 0.6,
    unhandled_users: 0.004,
    crashed_users: 0.004,
    anr_users: 0.003,
    anr_foreground_users: 0.002,
  }
  const key = 'project_id, source, bucket_seconds, attributes_id, bucket'
  const columns = [...COUNTS, ...USER_SETS.map(countColumn)].join(', ')
  for (const { seconds, days, ofMany } of BUCKETS)
    await run(
      `with made as (
       select $1::uuid as project_id, $2::smallint as source, $3::int as bucket_seconds, v.id as attributes_id, b.bucket,
         ${COUNTS.map((name) => `${counts[name]} as ${name}`).join(', ')},
         ${USER_SETS.map((set) => `${sketch(users[set])} as ${set}`).join(', ')},
         ${USER_SETS.map((set) => `case when t.total * ${users[set]} >= 1 then (t.total * ${users[set]})::int end as ${countColumn(set)}`).join(', ')}
       from unnest($4::bigint[], $5::float8[], $6::float8[]) v (id, share, days),
         lateral (select to_timestamp(floor(extract(epoch from now()) / $3) * $3 - g * $3) as bucket
           from generate_series(0, (v.days * 86400 / $3)::int) g) b,
         lateral (select (v.share * $7::float8 * $3 / 86400 * (0.5 + random()) + 0 * extract(epoch from b.bucket))::bigint as total) t
       where t.total > 0),
       counted as (insert into health_rollups (${key}, ${columns}) select ${key}, ${columns} from made on conflict do nothing)
       insert into health_sketches (${key}, ${USER_SETS.join(', ')}) select ${key}, ${USER_SETS.join(', ')} from made
       where users is not null on conflict do nothing`,
      [
        projectId,
        sourceNumber(source),
        seconds,
        values.map(({ id }) => id),
        values.map(({ share }) => share),
        values.map(({ level }) => (MANY.includes(level) ? ofMany : days)),
        perDay,
      ],
    )
}

/** Releases of the rollups, one a day. */
async function seedReleases(run: Run, projectId: string): Promise<void> {
  await run(
    `insert into releases (id, project_id, version, state, created_at, released_at, first_seen_at, first_session_at)
     select gen_random_uuid(), $1, k.version, 'open', t.at, t.at, t.at, t.at
     from unnest($2::text[]) with ordinality k (version, place), lateral (select now() - k.place * interval '1 day' as at) t
     on conflict do nothing`,
    [projectId, list(RELEASES, releaseName)],
  )
}

const SCREENS = 20

/** Transactions of screens and requests through the intake: every combination once. */
async function sendTransactions(
  url: string,
  { number, publicKey }: { number: number; publicKey: string },
): Promise<void> {
  let id = 0
  for (let screen = 0; screen < SCREENS; screen++)
    for (const release of [0, 1])
      for (const os of ['Android', 'iOS'])
        for (const [memory, model] of [
          [2, 'Phone 1'],
          [4, 'Phone 2'],
          [8, 'Phone 3'],
        ] as const) {
          const end = Date.now() / 1000 - 60
          const isScreen = screen % 2 === 0
          const transaction = {
            type: 'transaction',
            event_id: (++id).toString(16).padStart(32, '0'),
            transaction: isScreen ? `Screen${screen}` : `GET /items/${screen}`,
            transaction_info: { source: isScreen ? 'component' : 'route' },
            start_timestamp: end - 0.4,
            timestamp: end,
            release: releaseName(release),
            environment: 'production',
            contexts: {
              os: { name: os },
              device: { model, family: model, memory_size: memory * 2 ** 30 },
              trace: {
                trace_id: id.toString(16).padStart(32, 'a'),
                span_id: id.toString(16).padStart(16, 'b'),
                op: isScreen ? 'ui.load' : 'http.server',
                status: 'ok',
              },
            },
            measurements: isScreen
              ? {
                  app_start_cold: { value: 1_400, unit: 'millisecond' },
                  time_to_initial_display: { value: 300, unit: 'millisecond' },
                  time_to_full_display: { value: 700, unit: 'millisecond' },
                  frames_total: { value: 500 },
                  frames_slow: { value: 9 },
                  frames_frozen: { value: 1 },
                }
              : {},
          }
          const answer = await fetch(`${url}/api/${number}/envelope/?sentry_key=${publicKey}`, {
            method: 'POST',
            body: `{}\n{"type":"transaction"}\n${JSON.stringify(transaction)}`,
          })
          if (!answer.ok) throw new Error(`the intake answered a transaction with ${answer.status}`)
          await answer.arrayBuffer()
        }
}

/** Copies the rollups of these transactions over the time that charts read, each with 500 values. */
async function copyPerformance(run: Run): Promise<void> {
  const rand = random(11)
  const sketch = new DDSketch()
  for (let i = 0; i < 500; i++) sketch.add(400 * Math.exp(rand() * 2 - 1))
  await run(
    `create table bench_rollups as select distinct on (project_id, grain, metric, series_id) * from performance_rollups`,
  )
  await run('truncate performance_rollups')
  const { rows } = await run(
    `select column_name as name from information_schema.columns where table_name = 'performance_rollups' order by ordinal_position`,
  )
  const copied = rows.map(({ name }) => String(name))
  const expressions: Readonly<Record<string, string>> = {
    bucket: 'to_timestamp((floor(extract(epoch from now()) / ($1 * 60)) - g) * $1 * 60)',
    step: '$1::int',
    count: '500',
    sketch: '$3::bytea',
  }
  for (const { minutes, days } of [
    { minutes: 2_880, days: DAYS },
    { minutes: 360, days: DAYS },
    { minutes: 60, days: 15 },
    { minutes: 15, days: 2 },
    { minutes: 1, days: 0.08 },
  ])
    await run(
      `insert into performance_rollups (${copied.join(', ')})
       select ${copied.map((name) => expressions[name] ?? `r.${name}`).join(', ')}
       from bench_rollups r, generate_series(0, ($2::float8 * 1440 / $1)::int) g`,
      [minutes, days, sketch.toBytes()],
    )
  await run('drop table bench_rollups')
}
