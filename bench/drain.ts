import { resolve } from 'node:path'
import { type BenchArgs, type BenchResult, type Figure, median, percentile } from './bench.ts'
import {
  BACKLOG_ENTRIES,
  drainedPerSecond,
  eventsOfSize,
  type Fed,
  feedAndWatch,
  processorPerEvent,
  type Sample,
  SAMPLE_MS,
  serviceMs,
  waitUntilDrained,
  wholeMiB,
} from './feed.ts'
import { describe } from './intake.ts'
import { measureParts, noteOfCores } from './parts.ts'
import { STANDARD_SHAPE } from './payloads.ts'
import { recordedEvents } from './recorded-events.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { PARTS } from './processor-time.ts'
import { startService } from './service.ts'
import { readMetric, setUpProject } from './setup-project.ts'

export const summary =
  'P2 to P4, P11: events per second from accepted to committed issue and event (--size=20000|3000|50000, --issues=200, --plain: not compressed, --payload=recorded: events of real SDKs, --fixed: each body keeps its user, release and value, --checkout=<folder>: measures that checkout, --cores=1|2: service and database on so many processors, --quick, --long, --runs=3, --seconds=60); with --parts[=20kB,3kB,issues,recorded] processor time by part for each of these loads, and with --checkout=<folder> in turns with that checkout (--runs=3 pairs, --seconds=10, --cores)'

const GOALS = new Map([
  [3_000, '≥6,000/s (P3)'],
  [20_000, '≥4,000/s (P2)'],
  [50_000, '≥1,500/s (P4)'],
])
const WARM_UP_MS = 8_000

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  if (options['parts'] !== undefined) return measureParts(options)
  const quick = options['quick'] === 'true'
  const runs = Number(options['runs'] ?? (quick || long ? 1 : 3))
  const seconds = Number(options['seconds'] ?? (long ? 300 : quick ? 15 : 60))
  const sizeBytes = Number(options['size'] ?? STANDARD_SHAPE.sizeBytes)
  const issues = Number(options['issues'] ?? STANDARD_SHAPE.issues)
  const coding = options['plain'] === 'true' ? 'none' : 'gzip'
  const isRecorded = options['payload'] === 'recorded'
  const isFixed = options['fixed'] === 'true'
  const events = isRecorded ? recordedEvents(coding) : eventsOfSize(sizeBytes, issues, coding)
  const { checkout, cores } = options
  const service = await startService({
    env: { RATE_LIMIT_SCALE: '0' },
    ...(checkout === undefined ? {} : { checkout: resolve(checkout) }),
    ...(cores === undefined ? {} : { cores: Number(cores) }),
  })
  try {
    const project = await setUpProject(service.url)
    const feed = (durationMs: number) => feedAndWatch(service, project, { events, coding, isFixed }, durationMs)
    await feed(WARM_UP_MS)
    const results: Fed[] = []
    for (let i = 0; i < runs; i++) results.push(await feed(seconds * 1000))
    const { memory } = results.reduce((a, b) => (wholeMiB(b.memory) > wholeMiB(a.memory) ? b : a))
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
          value: wholeMiB(memory),
          unit: 'MiB',
          ...(hasGoals && sizeBytes === STANDARD_SHAPE.sizeBytes ? { goal: '≤600 MiB (P11)' } : {}),
        },
        '  service': { value: memory.service, unit: 'MiB' },
        '  database': { value: memory.database, unit: 'MiB' },
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
        ...noteOfCores(cores),
        'drained: events, issues, hourly counts, users and outcomes committed, as counted by /-/metrics',
      ],
    }
  } finally {
    await service.stop()
  }
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

function slowestWindow({ samples }: Fed): number {
  const span = 5_000 / SAMPLE_MS
  const rates = samples.slice(span).map((sample, index) => {
    const before = samples[index] ?? sample
    return ((sample.drained - before.drained) / (sample.atMs - before.atMs)) * 1000
  })
  return rates.length === 0 ? 0 : percentile(rates, 1)
}
