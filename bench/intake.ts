import { type BenchArgs, type BenchResult, type Figure, median } from './bench.ts'
import { type LoadResult, runLoad } from './load.ts'
import { type BenchEvent, type Coding, makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { type BenchProject, setUpProject } from './setup-project.ts'

export const summary =
  'P1: requests accepted and durable per second, latency at 5,000/s (--quick, --long, --runs=3, --seconds=60, --connections=64, --with-digestion)'

/** Warm-up before measuring: caches, compiled code, first checkpoints of a new database. */
const WARM_UP_MS = 5_000
const FIXED_RATE = 5_000

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const quick = options['quick'] === 'true'
  const runs = Number(options['runs'] ?? (quick || long ? 1 : 3))
  const seconds = Number(options['seconds'] ?? (long ? 300 : quick ? 10 : 60))
  const connections = Number(options['connections'] ?? 64)
  const withDigestion = options['with-digestion'] === 'true'
  const events = makeEvents(STANDARD_SHAPE)
  const refused = new Map<number, number>()
  /** Each run has its own service and spool: without digestion, the requests of earlier runs would fill it. */
  const measured = async (ratePerSecond: number | null): Promise<LoadResult> => {
    const service = await startService({
      env: { RATE_LIMIT_SCALE: '0', ...(withDigestion ? {} : { FAULTLINE_ROLES: 'ingest,api' }) },
    })
    try {
      const project = await setUpProject(service.url)
      const load = (durationMs: number): Promise<LoadResult> =>
        runLoad({
          ...target(service.url, project),
          events,
          connections: ratePerSecond === null ? connections : 128,
          ratePerSecond,
          durationMs,
        })
      await load(WARM_UP_MS)
      const result = await load(seconds * 1000)
      for (const [status, count] of result.answers)
        if (status !== 200) refused.set(status, (refused.get(status) ?? 0) + count)
      return result
    } finally {
      await service.stop()
    }
  }
  const full: LoadResult[] = []
  const fixed: LoadResult[] = []
  for (let i = 0; i < runs; i++) {
    full.push(await measured(null))
    fixed.push(await measured(FIXED_RATE))
  }
  const of = (results: LoadResult[], value: (result: LoadResult) => number): number => median(results.map(value))
  const ms = (results: LoadResult[], p: number, goal?: string): Figure => ({
    value: of(results, (result) => result.latency.percentile(p)),
    unit: 'ms',
    ...(goal === undefined ? {} : { goal }),
  })
  return {
    figures: {
      'accepted and durable': {
        value: of(full, (result) => result.accepted / (result.elapsedMs / 1000)),
        unit: 'requests/s',
        goal: '≥10,000/s (P1)',
      },
      'latency p50, flat out': ms(full, 50),
      'latency p99, flat out': ms(full, 99),
      'accepted at 5,000/s asked': {
        value: of(fixed, (result) => result.accepted / (result.elapsedMs / 1000)),
        unit: 'requests/s',
        goal: '5,000/s',
      },
      'latency p50 at 5,000/s': ms(fixed, 50),
      'latency p99 at 5,000/s': ms(fixed, 99, '≤50 ms (P1)'),
      'refused or broken': { value: [...refused.values()].reduce((a, b) => a + b, 0), unit: 'requests', goal: '0' },
    },
    payload: describe(events),
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      `median of ${runs} runs of ${seconds} s after warm-up; ${connections} connections without pipelining, 128 at the fixed rate; load generator and database on the same machine`,
      withDigestion
        ? 'digestion running on the same machine'
        : 'digestion switched off (FAULTLINE_ROLES=ingest,api): what is accepted stays on the spool',
      'latency at the fixed rate counts from the time a request was due',
      ...(refused.size === 0
        ? []
        : [`answers other than 200: ${[...refused].map(([status, count]) => `${status} × ${count}`).join(', ')}`]),
    ],
  }
}

export const target = (url: string, { number, publicKey }: BenchProject) => ({ url, projectNumber: number, publicKey })

export function describe(events: readonly BenchEvent[], coding: Coding = 'gzip'): string {
  const mean = (value: (event: BenchEvent) => number): string =>
    Math.round(events.reduce((sum, event) => sum + value(event), 0) / events.length).toLocaleString('en')
  const sent = coding === 'gzip' ? `${mean(({ rest }) => rest.length)} gzipped` : 'not compressed'
  const issues = new Set(events.map(({ issue }) => issue)).size
  return `envelopes of one event, ${mean(({ json }) => json.length)} bytes of JSON, ${sent}, ${issues.toLocaleString('en')} distinct issues; ids, times, users and releases vary`
}
