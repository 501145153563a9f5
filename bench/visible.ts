import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type BenchArgs, type BenchResult, percentile } from './bench.ts'
import { waitUntilDrained } from './drain.ts'
import { describe, target } from './intake.ts'
import { runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { type BenchProject, setUpProject } from './setup-project.ts'

export const summary =
  'P5: from the acknowledgement of an event to its issue in GET /api/issues, while 500/s arrive (--seconds=30, --rate=500, --long)'

const WARM_UP_MS = 5_000
/** Four probes a second, each of a new issue, so that nothing else can bring it into the list. */
const PROBE_EVERY_MS = 250
const ASK_EVERY_MS = 5
const GIVE_UP_MS = 20_000

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? (long ? 300 : 30))
  const ratePerSecond = Number(options['rate'] ?? 500)
  const events = makeEvents(STANDARD_SHAPE)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' } })
  try {
    const project = await setUpProject(service.url)
    const load = (durationMs: number) =>
      runLoad({ ...target(service.url, project), events, connections: 32, ratePerSecond, durationMs })
    await load(WARM_UP_MS)
    await waitUntilDrained(service)
    const loading = load(seconds * 1000)
    const until = performance.now() + seconds * 1000
    const probes: Promise<number>[] = []
    while (performance.now() < until) {
      probes.push(probe(service.url, project, probes.length))
      await delay(PROBE_EVERY_MS)
    }
    const times = await Promise.all(probes)
    const { accepted, elapsedMs } = await loading
    return {
      figures: {
        'visible after, p50': { value: percentile(times, 50), unit: 'ms' },
        'visible after, p99': { value: percentile(times, 99), unit: 'ms', goal: '≤1,000 ms (P5)' },
        'visible after, slowest': { value: Math.max(...times), unit: 'ms' },
        probes: { value: times.length, unit: '' },
        'accepted meanwhile': { value: accepted / (elapsedMs / 1000), unit: 'requests/s' },
      },
      payload: describe(events),
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        `a probe is an event of a new issue; the list is asked again ${ASK_EVERY_MS} ms after each answer, so the time includes that of one answer`,
        'load generator, service and database on the same machine',
      ],
    }
  } finally {
    await service.stop()
  }
}

/**
 * The same beside a constant load: times until new issues are in the list, four a second; 20 s for those that never
 * were.
 */
export async function measureVisible(url: string, project: BenchProject, seconds: number): Promise<number[]> {
  const probes: Promise<number>[] = []
  const run = Date.now() % 1_000_000
  for (const until = performance.now() + seconds * 1000; performance.now() < until; await delay(PROBE_EVERY_MS))
    probes.push(probe(url, project, run * 1_000 + probes.length))
  const seen = await Promise.allSettled(probes)
  return seen.map((one) => (one.status === 'fulfilled' ? one.value : GIVE_UP_MS))
}

const List = z.object({ items: z.array(z.object({ title: z.string() })) })

/**
 * Sends an event of a new issue; returns the milliseconds from its acknowledgement until the first page shows the
 * issue.
 */
async function probe(url: string, project: BenchProject, number: number): Promise<number> {
  const type = `Probe${number}Error`
  const event = {
    timestamp: Date.now() / 1000,
    platform: 'node',
    exception: {
      values: [{ type, value: 'seen?', stacktrace: { frames: [{ function: type, filename: `${type}.js` }] } }],
    },
  }
  const answer = await fetch(`${url}/api/${project.number}/envelope/?sentry_key=${project.publicKey}`, {
    method: 'POST',
    body: `{}\n{"type":"event"}\n${JSON.stringify(event)}`,
  })
  if (!answer.ok) throw new Error(`a probe was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
  const startedMs = performance.now()
  for (;;) {
    const list = await fetch(`${url}/api/issues?sort=-first_seen&limit=25`, { headers: { cookie: project.cookie } })
    const { items } = List.parse(await list.json())
    const ms = performance.now() - startedMs
    if (items.some(({ title }) => title.includes(type))) return ms
    if (ms > GIVE_UP_MS) throw new Error(`an acknowledged event was not in the list after ${GIVE_UP_MS / 1000} s`)
    await delay(ASK_EVERY_MS)
  }
}
