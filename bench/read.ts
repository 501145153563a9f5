import { join } from 'node:path'
import { z } from 'zod'
import { createApp } from '#server/service/app.ts'
import { readConfig } from '#server/config/config.ts'
import { readPerformanceTotals } from '#server/telemetry/performance/read-performance.ts'
import { readSessionSeries } from '#server/telemetry/app-health/session-totals.ts'
import { type BenchArgs, type BenchResult, type Figure, percentile } from './bench.ts'
import { waitUntilDrained } from './feed.ts'
import { target } from './intake.ts'
import { runLoad } from './load.ts'
import { makeEvents, random, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { affordable, seededData, type Seeded } from './read-data.ts'
import { startService } from './service.ts'
import { logIn } from './setup-project.ts'
import { measureVisible } from './visible.ts'

export const summary =
  'P5, P8, P9: lists, detail, search, logs and rollups with 1, 3 and 10 million events, as many log entries and 100,000 issues, while 500/s arrive (--events=1000000, --logs=10000000, --rate=500, --samples=150, --long)'

const SIZES = [1_000_000, 3_000_000, 10_000_000]
const RATE = 500
const OPEN = 'status=unresolved&status=regressed&status=escalated'
const DAY_MS = 86_400_000
/** First pages of logs. */
const LOG_FILTERS = ['', 'range=24h', 'range=1h', 'level=error&level=fatal', 'level=warn', 'range=30d&level=warn']

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const progress = (line: string) => process.stdout.write(`            ${line}\n`)
  const digested = long ? 300_000 : 30_000
  const samples = Number(options['samples'] ?? (long ? 300 : 150))
  const asked = options['events'] === undefined ? SIZES : [Number(options['events'])]
  const logs = options['logs'] === undefined ? undefined : Number(options['logs'])
  const rate = Number(options['rate'] ?? RATE)
  const figures: Record<string, Figure> = {}
  const notes: string[] = []
  const p95s: Map<string, number>[] = []
  for (const wanted of asked) {
    const events = affordable(wanted)
    if (events < wanted) {
      notes.push(`no room on the disk for ${wanted.toLocaleString('en')} events; left out`)
      continue
    }
    progress(`── ${events.toLocaleString('en')} events`)
    const seeded = await seededData(events, Math.min(digested, events), progress, logs)
    const measured = await measure(seeded, { samples, rate }, progress)
    p95s.push(new Map([...measured.times].map(([name, times]) => [name, percentile(times, 95)])))
    const label = events >= 1_000_000 ? `${events / 1_000_000} M` : events.toLocaleString('en')
    for (const [name, times] of measured.times) {
      figures[`${label}: ${name}, p50`] = { value: percentile(times, 50), unit: 'ms' }
      figures[`${label}: ${name}, p95`] = { value: percentile(times, 95), unit: 'ms', goal: '≤50 ms (P8)' }
    }
    figures[`${label}: visible after, p99`] = {
      value: percentile(measured.visible, 99),
      unit: 'ms',
      goal: '≤1,000 ms (P5)',
    }
    figures[`${label}: accepted meanwhile`] = { value: measured.accepted, unit: 'requests/s' }
  }
  const [least, most] = [p95s[0], p95s.at(-1)]
  if (p95s.length > 1)
    for (const [name, p95] of most ?? [])
      figures[`growth of ${name}, p95`] = {
        value: p95 / (least?.get(name) ?? p95),
        unit: '×',
        goal: '≤1.3 (P9)',
      }
  return {
    figures,
    payload: `100,000 issues; ${digested.toLocaleString('en')} events of 3 kB through digestion, the rest copies by SQL with new ids, times, users and issues and bodies of 0.3 kB; 20 kB events arrive meanwhile`,
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      ...notes,
      ...(logs === undefined ? [] : [`${logs.toLocaleString('en')} log entries`]),
      `${samples} requests of each kind, one after the other, while ${rate} events/s arrive; load generator, service and database on the same machine`,
      'the list, one of five sorts, with and without project, open issues of 24 h, 7 or 30 d; search: words, releases, tags, users and their addresses, counts and groups in turn; log lines: the first page of every level, of failures and of warnings',
      'session series of 30 d and performance totals of 7 d are the functions behind GET /api/metrics and /api/performance, which have no routes yet, called over a separate connection',
    ],
  }
}

type Measured = { times: Map<string, number[]>; visible: number[]; accepted: number }

async function measure(
  seeded: Seeded,
  { samples, rate }: { readonly samples: number; readonly rate: number },
  progress: (line: string) => void,
): Promise<Measured> {
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, dataDir: seeded.dataDir })
  const socket = encodeURIComponent(join(service.dataDir, 'run'))
  const app = await createApp(
    readConfig({ ...process.env, FAULTLINE_DATA_DIR: seeded.dataDir, LOG_LEVEL: 'warn' }),
    `postgresql://faultline@localhost:5432/faultline?host=${socket}`,
    2,
    'bench',
  )
  try {
    // Left by an earlier run.
    await waitUntilDrained(service)
    const project = { ...seeded, cookie: await logIn(service.url) }
    const ask = async (path: string): Promise<string> => {
      const answer = await fetch(service.url + path, { headers: { cookie: project.cookie } })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
      return text
    }
    const rand = random(7)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(rand() * list.length)] as T
    const ids = await someIssues(ask)
    const to = () => new Date()
    const kinds: Readonly<Record<string, () => Promise<unknown>>> = {
      'issue list': () => ask(`/api/issues?${aList(pick, seeded.projectId)}`),
      'issue detail': () => ask(`/api/issues/${pick(ids)}`),
      search: () => ask(`/api/issues/search?limit=25&q=${encodeURIComponent(aQuery(pick, rand))}`),
      'log lines': () => ask(`/api/projects/${seeded.projectId}/logs?limit=100&${pick(LOG_FILTERS)}`),
      'log volume, 30 d': () => ask(`/api/projects/${seeded.projectId}/logs/volume?range=30d`),
      'session series, 30 d': () =>
        readSessionSeries(
          app.db,
          { projectId: seeded.projectId, from: new Date(Date.now() - 30 * DAY_MS), to: to() },
          21_600,
        ),
      'performance totals, 7 d': () =>
        readPerformanceTotals(app.db, {
          projectIds: [seeded.projectId],
          metrics: ['duration'],
          from: new Date(Date.now() - 7 * DAY_MS),
          to: to(),
          filter: {},
        }),
    }
    for (const read of Object.values(kinds)) for (let i = 0; i < 15; i++) await read()
    let isOver = false
    const load = runLoad({
      ...target(service.url, project),
      events: makeEvents(STANDARD_SHAPE),
      connections: 32,
      ratePerSecond: rate,
      durationMs: 3_600_000,
      isOver: () => isOver,
    })
    const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]))
    try {
      for (let i = 0; i < samples; i++) {
        if (i % 50 === 0) progress(`${i} of ${samples} requests of each kind`)
        for (const [name, read] of Object.entries(kinds)) {
          const startedMs = performance.now()
          await read()
          times.get(name)?.push(performance.now() - startedMs)
        }
      }
      progress('time until events are visible')
      const visible = await measureVisible(service.url, [project], 10)
      isOver = true
      const { accepted, elapsedMs } = await load
      return { times, visible, accepted: accepted / (elapsedMs / 1000) }
    } finally {
      isOver = true
      await load
    }
  } finally {
    await app.close()
    await service.stop()
  }
}

const List = z.object({ items: z.array(z.object({ id: z.string() })) })

/** Large and small issues, old and new. */
async function someIssues(ask: (path: string) => Promise<string>): Promise<string[]> {
  const ids: string[] = []
  for (const sort of ['-last_seen', 'first_seen', '-event_count', '-user_count'])
    ids.push(...List.parse(JSON.parse(await ask(`/api/issues?limit=100&sort=${sort}`))).items.map(({ id }) => id))
  return ids
}

type Pick = <T>(list: readonly T[]) => T

function aList(pick: Pick, projectId: string): string {
  const since = new Date(Date.now() - pick([1, 7, 30]) * DAY_MS).toISOString()
  const sort = pick(['-last_seen', '-last_seen', '-event_count', '-user_count', '-first_seen', '-severity'])
  return `limit=${pick([25, 100])}&sort=${sort}&${OPEN}&seen_since=${since}${pick(['', `&projectId=${projectId}`])}`
}

function aQuery(pick: Pick, rand: () => number): string {
  const number = (below: number) => Math.floor(rand() * below)
  return pick([
    () => `rare${number(90_000)}`,
    () => `w${number(5_000)} level:fatal`,
    () => `module${number(300)} is:unresolved`,
    () => `tenant:t${number(1_000)}`,
    () => `release:1.${number(40)}.0 last_seen:-7d`,
    () => `user.id:u${number(20_000)}`,
    () => `user.email:user${number(200_000)}@example.com`,
    () => `user.ip:10.${number(100)}.1*.7 is:unresolved`,
    () => `events:>500 is:unresolved`,
    () => `(w${number(5_000)} OR rare${number(90_000)}) -is:resolved`,
    () => `assigned:me module${number(300)}`,
    () => `common${number(10)} last_seen:-24h`,
  ])()
}
