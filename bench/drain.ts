import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchArgs, type BenchResult, type Figure, median, percentile } from './bench.ts'
import { describe, target } from './intake.ts'
import { type LoadResult, runLoad } from './load.ts'
import { type BenchEvent, type Coding, makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { recordedEvents } from './recorded-events.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { memoryOfTree } from './process-tree.ts'
import { PARTS, processorTimeOfTree, type ProcessorTime } from './processor-time.ts'
import { type Service, startService } from './service.ts'
import { type BenchProject, readMetric, setUpProject } from './setup-project.ts'

export const summary =
  'P2 to P4, P11: events per second from accepted to committed issue and event (--size=20000|3000|50000, --issues=200, --plain: not compressed, --payload=recorded: events of real SDKs, --fixed: each body keeps its user, release and value, --checkout=<folder>: measures that checkout, --quick, --long, --runs=3, --seconds=60)'

const GOALS = new Map([
  [3_000, '≥6,000/s (P3)'],
  [20_000, '≥4,000/s (P2)'],
  [50_000, '≥1,500/s (P4)'],
])
/** Events kept waiting for digestion, so that it is never idle and never far behind. */
const BACKLOG_ENTRIES = 4_000
const SAMPLE_MS = 500
const WARM_UP_MS = 8_000

export type Sample = {
  readonly atMs: number
  readonly drained: number
  readonly backlog: number
  readonly processor: ProcessorTime
  /** Processor time of this process, which generates the load. */
  readonly ownProcessorMs: number
}

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const quick = options['quick'] === 'true'
  const runs = Number(options['runs'] ?? (quick || long ? 1 : 3))
  const seconds = Number(options['seconds'] ?? (long ? 300 : quick ? 15 : 60))
  const sizeBytes = Number(options['size'] ?? STANDARD_SHAPE.sizeBytes)
  const issues = Number(options['issues'] ?? STANDARD_SHAPE.issues)
  const coding = options['plain'] === 'true' ? 'none' : 'gzip'
  const isRecorded = options['payload'] === 'recorded'
  const isFixed = options['fixed'] === 'true'
  const events = isRecorded
    ? recordedEvents(coding)
    : // Many issues need no variants to make many distinct bodies.
      makeEvents({ ...STANDARD_SHAPE, sizeBytes, issues, variantsPerIssue: issues > 2_000 ? 1 : 4 }, coding)
  const { checkout } = options
  const service = await startService({
    env: { RATE_LIMIT_SCALE: '0' },
    ...(checkout === undefined ? {} : { checkout: resolve(checkout) }),
  })
  try {
    const project = await setUpProject(service.url)
    const feed = (durationMs: number) => feedAndWatch(service, project, { events, coding, isFixed }, durationMs)
    await feed(WARM_UP_MS)
    const results: Fed[] = []
    for (let i = 0; i < runs; i++) results.push(await feed(seconds * 1000))
    const memoryMiB = Math.max(...results.map((result) => result.memoryMiB))
    const emptied = performance.now()
    await waitUntilDrained(service)
    const emptyingMs = performance.now() - emptied
    const accepted = await readMetric(service.url, 'faultline_intake_accepted_total')
    const stored = await readMetric(service.url, 'faultline_digest_events_total')
    // The goals are for compressed events of 200 issues.
    const hasGoals = !isRecorded && coding === 'gzip' && issues === STANDARD_SHAPE.issues
    const goal = hasGoals ? GOALS.get(sizeBytes) : undefined
    const of = (value: (result: Fed) => number): number => median(results.map(value))
    return {
      figures: {
        'drained, end to end': {
          value: of(drainedPerSecond),
          unit: 'events/s',
          ...(goal === undefined ? {} : { goal }),
        },
        'slowest 5 s of a run': { value: Math.min(...results.map(slowestWindow)), unit: 'events/s' },
        'accepted meanwhile': { value: of(({ load }) => load.accepted / (load.elapsedMs / 1000)), unit: 'requests/s' },
        'waiting on the spool, median': {
          value: of(({ samples }) => median(samples.map((sample) => sample.backlog))),
          unit: 'entries',
        },
        'acknowledged in, p99': { value: of(({ load }) => load.latency.percentile(99)), unit: 'ms' },
        'memory of the whole tree (PSS)': {
          value: memoryMiB,
          unit: 'MiB',
          ...(hasGoals && sizeBytes === STANDARD_SHAPE.sizeBytes ? { goal: '≤600 MiB (P11)' } : {}),
        },
        ...processorFigures(results),
        'accepted − stored at the end': { value: accepted - stored, unit: 'events', goal: '0' },
        'spool emptied after the end in': { value: emptyingMs, unit: 'ms' },
      } satisfies Record<string, Figure>,
      payload: `${isRecorded ? 'events recorded from SDKs: ' : ''}${describe(events, coding)}${isFixed ? '; each body keeps its user, release and value' : ''}`,
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        `median of ${runs} runs of ${seconds} s after warm-up; load generator, service and database on the same machine`,
        `the rate follows digestion so that about ${BACKLOG_ENTRIES.toLocaleString('en')} entries always wait`,
        'drained: events, issues, hourly counts, users and outcomes committed, as counted by /-/metrics',
      ],
    }
  } finally {
    await service.stop()
  }
}

export type Fed = { readonly load: LoadResult; readonly samples: readonly Sample[]; readonly memoryMiB: number }

/** Sends as much as is digested, so that some events always wait. */
export async function feedAndWatch(
  service: Service,
  project: BenchProject,
  payload: { readonly events: readonly BenchEvent[]; readonly coding?: Coding; readonly isFixed?: boolean },
  durationMs: number,
): Promise<Fed> {
  const samples: Sample[] = []
  let rate = 3_000
  let memoryMiB = 0
  let over = false
  const readMemory = (): void => {
    const pssMiB = memoryOfTree(service.pid).reduce((sum, share) => sum + share.pssMiB, 0)
    memoryMiB = Math.max(memoryMiB, pssMiB)
  }
  const watching = (async () => {
    while (!over) {
      const [drained, backlog] = await Promise.all([
        readMetric(service.url, 'faultline_digest_events_total'),
        readMetric(service.url, 'faultline_spool_backlog_entries'),
      ])
      samples.push({
        atMs: performance.now(),
        drained,
        backlog,
        processor: processorTimeOfTree(service.pid),
        ownProcessorMs: ownProcessorMs(),
      })
      const before = samples.at(-6) ?? samples[0]
      const last = samples.at(-1)
      if (before !== undefined && last !== undefined && last.atMs > before.atMs) {
        const drainedPerMs = (last.drained - before.drained) / (last.atMs - before.atMs)
        // The rate of digestion, corrected until the backlog has its planned size.
        rate = Math.max(200, drainedPerMs * 1000 + (BACKLOG_ENTRIES - backlog) / 2)
      }
      if (samples.length % 20 === 10) readMemory()
      await delay(SAMPLE_MS)
    }
  })()
  const load = await runLoad({
    ...target(service.url, project),
    ...payload,
    connections: 64,
    ratePerSecond: () => rate,
    durationMs,
  })
  readMemory()
  over = true
  await watching
  return { load, samples, memoryMiB }
}

export function drainedPerSecond({ samples }: Fed): number {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined) throw new Error('nothing was measured')
  return ((last.drained - first.drained) / (last.atMs - first.atMs)) * 1000
}

/** Processor time per drained event, by part: says more than a rate while other programs run. */
function processorFigures(results: readonly Fed[]): Record<string, Figure> {
  const perEvent = (ms: (sample: Sample) => number): number =>
    median(results.map((result) => processorPerEvent(result, ms)))
  const unit = 'µs/event'
  return {
    'processor time, service and database': { value: perEvent(serviceMs), unit },
    'processor time, load generator included': {
      value: perEvent((sample) => sample.ownProcessorMs + serviceMs(sample)),
      unit,
    },
    ...Object.fromEntries(PARTS.map((part) => [`  ${part}`, { value: perEvent((s) => s.processor[part]), unit }])),
    '  load generator': { value: perEvent((sample) => sample.ownProcessorMs), unit },
  }
}

/** Processor time of service and database. */
export const serviceMs = ({ processor }: Sample): number => PARTS.reduce((sum, part) => sum + processor[part], 0)

/** Microseconds of processor time per drained event. */
export function processorPerEvent({ samples }: Fed, ms: (sample: Sample) => number): number {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined) throw new Error('nothing was measured')
  return ((ms(last) - ms(first)) * 1000) / (last.drained - first.drained)
}

function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function slowestWindow({ samples }: Fed): number {
  const span = 5_000 / SAMPLE_MS
  const rates = samples.slice(span).map((sample, index) => {
    const before = samples[index] ?? sample
    return ((sample.drained - before.drained) / (sample.atMs - before.atMs)) * 1000
  })
  return rates.length === 0 ? 0 : percentile(rates, 1)
}

/** Waits until everything accepted is stored, by the counters of /-/metrics. */
export async function waitUntilDrained(service: Service): Promise<void> {
  const deadline = performance.now() + 120_000
  while ((await readMetric(service.url, 'faultline_spool_backlog_entries')) > 0) {
    if (performance.now() > deadline) throw new Error('the spool was not empty two minutes after the load ended')
    await delay(100)
  }
  // The digest thread reports its sums shortly after its commit.
  await delay(1_500)
}
