import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { type BenchArgs, type BenchResult, type Figure, percentile } from './bench.ts'
import { waitUntilDrained } from './feed.ts'
import { target } from './intake.ts'
import { runLoad } from './load.ts'
import { seededMetrics, type SeededMetrics } from './metrics-data.ts'
import { makeEvents, random, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { logIn } from './setup-project.ts'

export const summary =
  'P8, P9: metrics, breakdowns, overview, store guard, releases and performance over rollups of 10 and 100 million sessions, while events and sessions arrive (--millions=100, --samples=60, --checkout=<folder>: measures that checkout)'

const SIZES = [10, 100]
const EVENTS_PER_SECOND = 200
const SESSION_ENVELOPES_PER_SECOND = 20
/** Sessions of an envelope that name their user; the others come as counts. */
const NAMED_PER_ENVELOPE = 5
/** Every so many of them started up to four days ago: apps send what they could not send before. */
const LATE_EVERY = 10

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const progress = (line: string) => process.stdout.write(`            ${line}\n`)
  const { checkout } = options
  const samples = Number(options['samples'] ?? (long ? 300 : 60))
  const sizes = options['millions'] === undefined ? SIZES : [Number(options['millions'])]
  const figures: Record<string, Figure> = {}
  const notes: string[] = []
  const p95s: Map<string, number>[] = []
  for (const millions of sizes) {
    progress(`── ${millions} million sessions`)
    const seeded = await seededMetrics(millions, progress)
    notes.push(`${millions} million sessions: ${seeded.rollups.toLocaleString('en')} rollups`)
    const times = await measure(seeded, samples, checkout, progress)
    p95s.push(new Map([...times].map(([name, of]) => [name, percentile(of, 95)])))
    for (const [name, of] of times) {
      figures[`${millions} M: ${name}, p50`] = { value: percentile(of, 50), unit: 'ms' }
      figures[`${millions} M: ${name}, p95`] = { value: percentile(of, 95), unit: 'ms', goal: '≤50 ms (P8)' }
    }
  }
  const [least, most] = [p95s[0], p95s.at(-1)]
  if (p95s.length > 1)
    for (const [name, p95] of most ?? [])
      figures[`growth of ${name}, p95`] = { value: p95 / (least?.get(name) ?? p95), unit: '×', goal: '≤1.3 (P9)' }
  return {
    figures,
    payload:
      'three projects (80, 15, 5 %), 60 days, 40 releases, 1,000 device models, 3 environments, systems and classes, 1,000 combinations, by Zipf’s law; events a fiftieth of that; rollups written by SQL with sketches of as many users as they have; performance: 240 series, copied',
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      ...notes,
      `${samples} requests of each kind in turn, through HTTP, of the largest project, while ${EVENTS_PER_SECOND} events/s and ${SESSION_ENVELOPES_PER_SECOND} envelopes/s of 60 sessions arrive (5 of them single ones with users, a tenth of those up to four days late), between them other questions; load generator, service and database on the same machine`,
    ],
  }
}

function kindsOf({ projectIds, release }: SeededMetrics): Readonly<Record<string, string>> {
  const id = projectIds[0]
  const metrics = (metric: string, range: string, rest = '') =>
    `/api/metrics?projectId=${id}&metric=${metric}&range=${range}${rest}`
  const breakdown = (dimension: string, range: string, sort: string) =>
    `/api/metrics/breakdown?projectId=${id}&dimension=${dimension}&range=${range}&sort=${sort}`
  return {
    'crash rate, 30 d': metrics('crash_rate', '30d'),
    'crash rate, 7 d': metrics('crash_rate', '7d'),
    'crash rate by users, 30 d': metrics('crash_rate', '30d', '&by=users'),
    'crash rate of a release, 30 d': metrics('crash_rate', '30d', `&release=${encodeURIComponent(release)}`),
    'crash rate of a combination, 30 d': metrics('crash_rate', '30d', '&os=Android&device_class=medium'),
    'ANR rate, 30 d': metrics('anr_rate', '30d'),
    'ANR rate, 7 d': metrics('anr_rate', '7d'),
    'events, 30 d': metrics('event_count', '30d'),
    'users, 30 d': metrics('user_count', '30d'),
    'by release, 30 d': breakdown('release', '30d', '-sessions'),
    'by release, 7 d': breakdown('release', '7d', '-sessions'),
    'worst devices, 30 d': breakdown('device', '30d', '-crash_rate'),
    'worst devices, 7 d': breakdown('device', '7d', '-crash_rate'),
    'overview of a project, 30 d': `/api/overview?projectId=${id}&range=30d`,
    'overview of a project, 7 d': `/api/overview?projectId=${id}&range=7d`,
    'overview of all projects, 30 d': '/api/overview?range=30d',
    'store guard': `/api/store-guard?projectId=${id}`,
    'releases, 30 d': `/api/releases?projectId=${id}&range=30d`,
    'session summary, 30 d': `/api/sessions/summary?projectId=${id}&range=30d`,
    'performance, 30 d': `/api/performance?projectId=${id}&range=30d`,
    'performance, 7 d': `/api/performance?projectId=${id}&range=7d`,
  }
}

async function measure(
  seeded: SeededMetrics,
  samples: number,
  checkout: string | undefined,
  progress: (line: string) => void,
): Promise<Map<string, number[]>> {
  const service = await startService({
    env: { RATE_LIMIT_SCALE: '0' },
    dataDir: seeded.dataDir,
    ...(checkout !== undefined && { checkout: resolve(checkout) }),
  })
  try {
    await waitUntilDrained(service)
    const cookie = await logIn(service.url)
    const ask = async (path: string): Promise<void> => {
      const answer = await fetch(service.url + path, { headers: { cookie } })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    }
    const kinds = Object.entries(kindsOf(seeded))
    const others = otherQuestions(seeded)
    for (const [, path] of kinds) for (let i = 0; i < 5; i++) await ask(path)
    let isOver = false
    const [number = 0, publicKey = ''] = [seeded.numbers[0], seeded.publicKeys[0]]
    const load = runLoad({
      ...target(service.url, { projectId: seeded.projectIds[0] ?? '', number, publicKey, cookie }),
      events: makeEvents({ ...STANDARD_SHAPE, sizeBytes: 3_000 }),
      connections: 16,
      ratePerSecond: EVENTS_PER_SECOND,
      durationMs: 3_600_000,
      isOver: () => isOver,
    })
    const sessions = sendSessions(
      `${service.url}/api/${number}/envelope/?sentry_key=${publicKey}`,
      seeded.releases,
      () => isOver,
    )
    const times = new Map<string, number[]>(kinds.map(([name]) => [name, []]))
    try {
      for (let i = 0; i < samples; i++) {
        if (i % 20 === 0) progress(`${i} of ${samples} requests of each kind`)
        for (const [index, [name, path]] of kinds.entries()) {
          // Members look at other pages in between: what a process remembers has to hold more than one answer.
          await ask(others[(i * kinds.length + index) % others.length] ?? path)
          const startedMs = performance.now()
          await ask(path)
          times.get(name)?.push(performance.now() - startedMs)
        }
      }
    } finally {
      isOver = true
      await Promise.all([load, sessions])
    }
    return times
  } finally {
    await service.stop()
  }
}

/** Questions between the measured requests: other projects, dimensions, ranges and filters. */
function otherQuestions({ projectIds, releases }: SeededMetrics): string[] {
  return projectIds.flatMap((id) =>
    ['24h', '7d', '30d'].flatMap((range) => [
      ...['release', 'environment', 'os', 'device', 'device_class'].map(
        (dimension) =>
          `/api/metrics/breakdown?projectId=${id}&dimension=${dimension}&range=${range}&sort=-anr_rate&offset=25`,
      ),
      ...releases
        .slice(1, 6)
        .map(
          (release) =>
            `/api/metrics?projectId=${id}&metric=crash_rate&by=users&range=${range}&release=${encodeURIComponent(release)}`,
        ),
      `/api/performance?projectId=${id}&range=${range}&environment=production`,
    ]),
  )
}

/** Sessions at a fixed rate: counts of the current minute, and some that name their user, of which some come late. */
async function sendSessions(url: string, releases: readonly string[], isOver: () => boolean): Promise<void> {
  const rand = random(5)
  for (let sent = 0; !isOver();) {
    const startedMs = performance.now()
    const now = new Date()
    const aggregates = [{ started: now.toISOString(), exited: 58 - NAMED_PER_ENVELOPE, errored: 1, crashed: 1 }]
    const named = Array.from({ length: NAMED_PER_ENVELOPE }, () => {
      const isLate = sent++ % LATE_EVERY === 0
      const started = new Date(now.getTime() - (isLate ? rand() * 4 * 86_400_000 : 1_000)).toISOString()
      return {
        sid: randomUUID(),
        did: `user-${Math.floor(rand() * 1_000_000)}`,
        init: true,
        started,
        timestamp: started,
        status: rand() < 0.01 ? 'crashed' : 'exited',
        errors: 0,
        // By Zipf's law, as what is seeded.
        attrs: { release: releases[Math.floor(releases.length ** rand()) - 1], environment: 'production' },
      }
    })
    const items = named.map((session) => `{"type":"session"}\n${JSON.stringify(session)}\n`).join('')
    const answer = await fetch(url, {
      method: 'POST',
      body: `{}\n{"type":"sessions"}\n${JSON.stringify({ aggregates, attrs: { release: releases[0] } })}\n${items}`,
    })
    await answer.arrayBuffer()
    const restMs = 1_000 / SESSION_ENVELOPES_PER_SECOND - (performance.now() - startedMs)
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
  }
}
