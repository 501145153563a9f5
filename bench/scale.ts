import { defaultDigestThreads } from '#server/config/config.ts'
import type { BenchArgs, BenchResult } from './bench.ts'

/**
 * The needs of an installation for a number of events a day: arithmetic on figures that other benches measured, with the
 * assumptions as options. It measures nothing, and takes no time.
 */
export const summary =
  'machines, disks and cost for 10^9 events a day, computed from measured figures (--events=, --size=20000|3000, --peak=, --kept=, --days=, --cores=, --core-share=, --slowdown=, --utilisation=, --wal=, --copies=, --usd-core=, --usd-gb=)'

/**
 * From docs/performance.md, by the size of an event, with 1,000 issues: processor time of service and database, of the
 * digest thread alone, bytes of the log and on disk. Times of 28 November 2026, divided by 1.4, by which that machine was
 * slower than the reference. Bytes of 3 kB are put together: rows and all else as for 20 kB, bodies of 750 and 400.
 */
const MEASURED = {
  20_000: { microseconds: 477, threadMicroseconds: 223, walBytes: 8_400, newestBytes: 3_717, packedBytes: 1_606 },
  3_000: { microseconds: 329, threadMicroseconds: 131, walBytes: 8_400, newestBytes: 1_900, packedBytes: 1_500 },
} as const
const DAY_SECONDS = 86_400

type Assumptions = {
  readonly eventsPerDay: number
  readonly eventBytes: keyof typeof MEASURED
  /** The busiest minutes against the mean of the day. */
  readonly peakFactor: number
  /** How busy processors may be in them. */
  readonly utilisation: number
  /** How much slower a processor is than the one that the figures are from. */
  readonly slowdown: number
  /** How much a further core adds, against the first two. */
  readonly coreShare: number
  readonly coresPerMachine: number
  /** The log's disk, sustained. */
  readonly walMiBPerSecond: number
  /** The share of events that stays: MAX_EVENTS_PER_ISSUE_DAY deletes the others of their issue after the day. */
  readonly keptShare: number
  readonly retentionDays: number
  /** A primary and its standbys. */
  readonly copies: number
  readonly usdPerCoreMonth: number
  readonly usdPerGBMonth: number
}

export const SCENARIOS: Readonly<Record<'good' | 'middle' | 'bad', Assumptions>> = {
  good: {
    eventsPerDay: 1e9,
    eventBytes: 3_000,
    peakFactor: 2,
    utilisation: 0.7,
    slowdown: 1,
    coreShare: 0.9,
    coresPerMachine: 16,
    walMiBPerSecond: 400,
    keptShare: 0.05,
    retentionDays: 30,
    copies: 2,
    usdPerCoreMonth: 15,
    usdPerGBMonth: 0.05,
  },
  middle: {
    eventsPerDay: 1e9,
    eventBytes: 20_000,
    peakFactor: 3,
    utilisation: 0.6,
    slowdown: 1.4,
    coreShare: 0.7,
    coresPerMachine: 16,
    walMiBPerSecond: 200,
    keptShare: 0.2,
    retentionDays: 30,
    copies: 2,
    usdPerCoreMonth: 25,
    usdPerGBMonth: 0.1,
  },
  bad: {
    eventsPerDay: 1e9,
    eventBytes: 20_000,
    peakFactor: 5,
    utilisation: 0.5,
    slowdown: 2.2,
    coreShare: 0.5,
    coresPerMachine: 8,
    walMiBPerSecond: 100,
    keptShare: 1,
    retentionDays: 90,
    copies: 3,
    usdPerCoreMonth: 40,
    usdPerGBMonth: 0.15,
  },
}

type Scale = {
  readonly peakPerSecond: number
  /** Events a second of one cell: service and database on one machine. */
  readonly cellPerSecond: number
  readonly limit: 'processors' | 'digest threads' | 'log'
  readonly cells: number
  readonly machines: number
  readonly cores: number
  /** In all copies. */
  readonly storedTB: number
  readonly usdPerMonth: number
}

/** @returns what the assumptions lead to. Pure. */
export function scaleOf(given: Assumptions): Scale {
  const measured = MEASURED[given.eventBytes]
  const peakPerSecond = (given.eventsPerDay / DAY_SECONDS) * given.peakFactor
  const usableCores = 2 + Math.max(0, given.coresPerMachine - 2) * given.coreShare
  const limits = {
    processors: (usableCores * given.utilisation * 1e6) / (measured.microseconds * given.slowdown),
    'digest threads':
      (defaultDigestThreads(given.coresPerMachine) * given.utilisation * 1e6) /
      (measured.threadMicroseconds * given.slowdown),
    log: (given.walMiBPerSecond * 2 ** 20) / measured.walBytes,
  }
  const names = Object.keys(limits) as (keyof typeof limits)[]
  const limit = names.reduce((lowest, name) => (limits[name] < limits[lowest] ? name : lowest))
  const cells = Math.ceil(peakPerSecond / limits[limit])
  const machines = cells * given.copies
  const cores = machines * given.coresPerMachine
  // The newest day is not packed, and has everything that arrived.
  const bytes =
    given.eventsPerDay * (measured.newestBytes + (given.retentionDays - 1) * given.keptShare * measured.packedBytes)
  const storedTB = (bytes * given.copies) / 1e12
  return {
    peakPerSecond,
    cellPerSecond: limits[limit],
    limit,
    cells,
    machines,
    cores,
    storedTB,
    usdPerMonth: cores * given.usdPerCoreMonth + storedTB * 1000 * given.usdPerGBMonth,
  }
}

/** The names of options, each a field of {@link Assumptions}. */
const OPTIONS = {
  events: 'eventsPerDay',
  peak: 'peakFactor',
  utilisation: 'utilisation',
  slowdown: 'slowdown',
  'core-share': 'coreShare',
  cores: 'coresPerMachine',
  wal: 'walMiBPerSecond',
  kept: 'keptShare',
  days: 'retentionDays',
  copies: 'copies',
  'usd-core': 'usdPerCoreMonth',
  'usd-gb': 'usdPerGBMonth',
} as const satisfies Readonly<Record<string, keyof Assumptions>>

export function run({ options }: BenchArgs): Promise<BenchResult> {
  const changes: Partial<Record<keyof Assumptions, number>> = {}
  for (const [name, field] of Object.entries(OPTIONS)) {
    const value = Number(options[name] ?? Number.NaN)
    if (value > 0) changes[field] = value
  }
  if (options['size'] === '3000' || options['size'] === '20000') changes.eventBytes = Number(options['size'])
  const figures: Record<string, { value: number; unit: string }> = {}
  const notes: string[] = []
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const given = { ...scenario, ...changes } as Assumptions
    const scale = scaleOf(given)
    figures[`${name}: in the busiest minutes`] = { value: scale.peakPerSecond, unit: 'events/s' }
    figures[`${name}: one cell`] = { value: scale.cellPerSecond, unit: 'events/s' }
    figures[`${name}: cells`] = { value: scale.cells, unit: '' }
    figures[`${name}: machines`] = { value: scale.machines, unit: '' }
    figures[`${name}: cores`] = { value: scale.cores, unit: '' }
    figures[`${name}: stored, all copies`] = { value: scale.storedTB, unit: 'TB' }
    figures[`${name}: cost`] = { value: scale.usdPerMonth, unit: 'USD/month' }
    notes.push(`${name}: limited by ${scale.limit}; ${JSON.stringify(given)}`)
  }
  return Promise.resolve({ figures, notes: [...notes, 'computed, not measured'] })
}
