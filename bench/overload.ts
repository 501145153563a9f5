import { type BenchArgs, type BenchResult, median } from './bench.ts'
import { drainedPerSecond, feedAndWatch, waitUntilDrained } from './feed.ts'
import { describe, target } from './intake.ts'
import { Histogram, type LoadResult, runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { readMetric, setUpProject } from './setup-project.ts'

export const summary =
  'P7: three times the load that can be digested, then the usual load: time to refuse, losses, time to recover (--seconds=30, --long)'

/**
 * Requests that may wait for digestion, instead of 3,000,000: that limit is reached only after many minutes of
 * overload, and the behaviour is the same.
 */
const MAX_BACKLOG = 20_000
const OVERLOAD = 3
/** The load afterwards, as a share of what can be digested. */
const USUAL = 0.8
const AFTER_MS = 20_000

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? (long ? 300 : 30))
  const events = makeEvents(STANDARD_SHAPE)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0', MAX_BACKLOG: String(MAX_BACKLOG) } })
  try {
    const project = await setUpProject(service.url)
    await feedAndWatch(service, project, { events }, 8_000)
    const capacity = drainedPerSecond(await feedAndWatch(service, project, { events }, 10_000))
    const refusals = new Histogram()
    const offer = (ratePerSecond: number, durationMs: number, onAnswer: (status: number, ms: number) => void) =>
      runLoad({ ...target(service.url, project), events, connections: 128, ratePerSecond, durationMs, onAnswer })
    const over = await offer(capacity * OVERLOAD, seconds * 1000, (status, ms) => {
      if (status === 429) refusals.add(ms)
    })
    if (refusals.count === 0) throw new Error(`nothing was refused: ${seconds} s were too short to fill the backlog`)
    const endedMs = performance.now()
    let lastRefusedMs = endedMs
    const after = await offer(capacity * USUAL, AFTER_MS, (status) => {
      if (status !== 200) lastRefusedMs = performance.now()
    })
    await waitUntilDrained(service)
    const accepted = await readMetric(service.url, 'faultline_intake_accepted_total')
    const stored = await readMetric(service.url, 'faultline_digest_events_total')
    const answered = (result: LoadResult, status: number): number => result.answers.get(status) ?? 0
    const others = [over, after].reduce(
      (sum, result) =>
        sum + [...result.answers].reduce((n, [status, count]) => n + (status === 200 || status === 429 ? 0 : count), 0),
      0,
    )
    return {
      figures: {
        'digested before': { value: capacity, unit: 'events/s' },
        offered: { value: over.sent / (over.elapsedMs / 1000), unit: 'requests/s' },
        accepted: { value: over.accepted / (over.elapsedMs / 1000), unit: 'requests/s' },
        'refused with 429': { value: answered(over, 429), unit: 'requests' },
        'refused in, p50': { value: refusals.percentile(50), unit: 'ms' },
        'refused in, p99': { value: refusals.percentile(99), unit: 'ms', goal: '≤50 ms (P7)' },
        'accepted − stored at the end': { value: accepted - stored, unit: 'events', goal: '0 (P7)' },
        'last refusal after the overload': { value: (lastRefusedMs - endedMs) / 1000, unit: 's', goal: '≤10 s (P7)' },
        'other answers, broken connections': { value: others, unit: 'requests', goal: '0' },
        'acknowledged in afterwards, p50': { value: median([after.latency.percentile(50)]), unit: 'ms' },
      },
      payload: describe(events),
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        `${seconds} s at ${OVERLOAD} times what was digested just before, then ${USUAL} times of it; 128 connections; load generator, service and database on the same machine`,
        `MAX_BACKLOG=${MAX_BACKLOG}, so that the limit is reached within seconds`,
        'refused in: from sending the request to its answer',
      ],
    }
  } finally {
    await service.stop()
  }
}
