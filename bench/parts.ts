import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { type BenchArgs, type BenchResult, type Figure, median } from './bench.ts'
import {
  drainedPerSecond,
  eventsOfSize,
  type Fed,
  type Feed,
  feedAndWatch,
  processorPerEvent,
  type Sample,
  serviceMs,
  waitUntilDrained,
  wholeMiB,
} from './feed.ts'
import type { BenchEvent } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { PARTS } from './processor-time.ts'
import { recordedEvents } from './recorded-events.ts'
import { type Service, startService } from './service.ts'
import { type BenchProject, setUpProject } from './setup-project.ts'

type Load = {
  readonly title: string
  readonly events: () => BenchEvent[]
  /** Warms up until every event was sent once: a new issue costs several times what a known one does. */
  readonly knowsAll?: boolean
}

/** The columns of the budget in docs/performance.md. */
const LOADS: Readonly<Record<string, Load>> = {
  '20kB': { title: '20 kB', events: () => eventsOfSize(20_000, 1_000) },
  '3kB': { title: '3 kB', events: () => eventsOfSize(3_000, 1_000) },
  issues: { title: '20,000 issues', events: () => eventsOfSize(20_000, 20_000), knowsAll: true },
  recorded: { title: 'recorded', events: () => recordedEvents('gzip') },
}

const WARM_UP_MS = 8_000
const MAX_WARM_UP_MS = 120_000
/** Until events wait for digestion as they do in the rest of a turn. */
const LEAD_IN_MS = 3_000

type Row = { readonly name: string; readonly unit: string; readonly of: (fed: Fed) => number }

const perEvent = (name: string, ms: (sample: Sample) => number): Row => ({
  name,
  unit: 'µs/event',
  of: (fed) => processorPerEvent(fed, ms),
})

const ROWS: readonly Row[] = [
  ...PARTS.map((part) => perEvent(part, ({ processor }) => processor[part])),
  perEvent('all of these', serviceMs),
  // The same program for both checkouts: its ratio says how far the machine changed.
  perEvent('load generator', ({ ownProcessorMs }) => ownProcessorMs),
  { name: 'drained', unit: 'events/s', of: drainedPerSecond },
  { name: 'memory (PSS), at most', unit: 'MiB', of: ({ memory }) => wholeMiB(memory) },
]

type Pair = { readonly now: Fed; readonly before: Fed | null }

/**
 * Processor time by part for each load. With another checkout the services of both run all the time and are fed in turns, a
 * few seconds each: other programs change how fast the machine is within minutes.
 */
export async function measureParts(options: BenchArgs['options']): Promise<BenchResult> {
  const quick = options['quick'] === 'true'
  const pairs = Number(options['runs'] ?? (quick ? 1 : 3))
  const seconds = Number(options['seconds'] ?? (quick ? 5 : 10))
  const { cores } = options
  const other = options['checkout'] === undefined ? null : resolve(options['checkout'])
  const figures: Record<string, Figure> = {}
  for (const load of loadsOf(options['parts'])) {
    const { title } = load
    const feed = { events: load.events() }
    const bound = cores === undefined ? {} : { cores: Number(cores) }
    await using now = await warmUp(load, feed, bound)
    await using before = other === null ? null : await warmUp(load, feed, { ...bound, checkout: other })
    const turn = async ({ service, project }: Warm, name: string): Promise<Fed> => {
      await feedAndWatch(service, project, feed, LEAD_IN_MS)
      const fed = await feedAndWatch(service, project, feed, seconds * 1000)
      const shown = ROWS.map((row) => `${row.name} ${Math.round(row.of(fed))}`)
      process.stdout.write(`            ${title}, ${name}: ${shown.join(', ')}\n`)
      await waitUntilDrained(service)
      return fed
    }
    const measured: Pair[] = []
    for (let pair = 1; pair <= pairs; pair++) {
      const number = `${pair} of ${pairs}`
      const first = before !== null && pair % 2 === 1 ? await turn(before, `before, ${number}`) : null
      const own = await turn(now, `now, ${number}`)
      const last = before !== null && pair % 2 === 0 ? await turn(before, `before, ${number}`) : null
      measured.push({ now: own, before: first ?? last })
    }
    for (const row of ROWS) figures[`${title}: ${row.name}`] = figureOf(row, measured)
  }
  return {
    figures,
    payload:
      'gzipped; 20 kB and 3 kB: 1,000 issues; 20,000 issues: of 20 kB, each known before; recorded: events of SDKs',
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      `medians of ${pairs} ${other === null ? 'runs' : `pairs with ${other}`}, each of ${seconds} s after warm-up, with new services for each load`,
      'processor time of service and database for an event that was accepted and drained; the same machine generates the load',
      ...noteOfCores(cores),
    ],
  }
}

/** For the reader of figures that were measured on fewer processors. */
export const noteOfCores = (cores: string | undefined): string[] =>
  cores === undefined
    ? []
    : [
        `service and database on ${cores} of ${cpus().length} processors (taskset); the load generator is not bound to any`,
      ]

function loadsOf(names: string | undefined): Load[] {
  if (names === undefined || names === 'true') return Object.values(LOADS)
  return names.split(',').map((name) => {
    const load = LOADS[name]
    if (load === undefined) throw new Error(`There is no load "${name}". Known: ${Object.keys(LOADS).join(', ')}.`)
    return load
  })
}

type Warm = AsyncDisposable & { readonly service: Service; readonly project: BenchProject }

async function warmUp(
  { knowsAll = false }: Load,
  feed: Feed,
  where: { readonly checkout?: string; readonly cores?: number },
): Promise<Warm> {
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, ...where })
  try {
    const project = await setUpProject(service.url)
    await feedAndWatch(service, project, feed, WARM_UP_MS)
    if (knowsAll) await feedAndWatch(service, project, { ...feed, maxRequests: feed.events.length }, MAX_WARM_UP_MS)
    await waitUntilDrained(service)
    return { service, project, [Symbol.asyncDispose]: async () => void (await service.stop()) }
  } catch (error) {
    await service.stop()
    throw error
  }
}

function figureOf({ unit, of }: Row, pairs: readonly Pair[]): Figure {
  const befores = pairs.flatMap(({ before }) => (before === null ? [] : [of(before)]))
  const ratios = pairs.flatMap(({ now, before }) => (before === null ? [] : [of(now) / of(before)]))
  return {
    value: median(pairs.map(({ now }) => of(now))),
    unit,
    ...(befores.length === 0 ? {} : { before: { value: median(befores), ratios } }),
  }
}
