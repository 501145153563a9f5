import { RANGES } from '#shared/issue-values.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { csvTable, formatQuery } from '../../platform/kernel/csv.ts'
import {
  Id,
  Milliseconds,
  offsetQuery,
  pageSchema,
  Rate,
  Timestamp,
  oneOrMany,
} from '../../platform/kernel/page.api.ts'

/** Starts, screens, pages and transactions of a project, and what its devices report. */

const count = z.number().int()
const fraction = Rate.nullable()
const figure = Milliseconds.nullable()

const MAX_VALUES = 50
/** A filter that may repeat; a comma is part of a value. */
const values = (name: string, maxLength: number) =>
  oneOrMany(
    z
      .array(
        z
          .string()
          .min(1, { error: `${name} must not be empty.` })
          .max(maxLength, { error: `${name} must be at most ${maxLength} characters.` }),
      )
      .max(MAX_VALUES, { error: `${name} may be given ${MAX_VALUES} times.` }),
  ).optional()

const CLASSES = ['low', 'medium', 'high'] as const

/** Filters of every question about performance. */
export const performanceFilters = {
  release: values('release', 250).describe('May repeat: any of these releases.'),
  environment: values('environment', 64).describe('May repeat.'),
  os: values('os', 64).describe('May repeat. Name of the operating system, without version.'),
  device_class: oneOrMany(
    z.array(z.enum(CLASSES, { error: `device_class must be one of ${CLASSES.join(', ')}.` })).max(CLASSES.length),
  )
    .optional()
    .describe('May repeat.'),
}

/** The range of a question about performance. */
export const performanceRange = z.enum(RANGES, { error: `range must be one of ${RANGES.join(', ')}.` }).default('7d')

export const Quantiles = z.object({ p50_ms: figure, p75_ms: figure, p95_ms: figure, count })

const LeftOut = z
  .object({
    too_long: count.describe('Above 180 s: the process started in the background.'),
    prewarmed: count.describe('The system started the app ahead of time.'),
    invalid: count.describe('Zero or less.'),
  })
  .describe('Values that were sent and not counted, by reason.')

const Band = z.object({ from_ms: Milliseconds, to_ms: figure, count, share: fraction })

export const Spread = z
  .array(z.object({ from_ms: Milliseconds, to_ms: figure, count }))
  .describe('A histogram with equal bins; the last one is open.')

const Start = Quantiles.extend({
  previous: Quantiles.describe('The range of the same length before.'),
  left_out: LeftOut,
  bands: z.object({ good: Band, watch: Band.nullable(), poor: Band }).describe('A warm start has no watch.'),
  spread: Spread,
})

const Display = Quantiles.extend({ previous: Quantiles, left_out: LeftOut })

const FrameRatios = z.object({
  slow_frame_ratio: fraction.describe('Share of all frames that were slow, 0 to 1; null without frames.'),
  frozen_frame_ratio: fraction.describe('Share of all frames that took over 700 ms, 0 to 1; null without frames.'),
})

const Frames = FrameRatios.extend({ total: count, slow: count, frozen: count, previous: FrameRatios })

const Stalls = z.object({
  count: count.describe('Stalls of the JavaScript thread.'),
  total_ms: Milliseconds,
  ratio: fraction.describe(
    'Stalled time as a share of the duration of the transactions that report it, 0 to 1; null without any.',
  ),
  longest_p95_ms: figure.describe('Milliseconds; 95 of 100 transactions had no longer stall. Null without stalls.'),
  longest_ms: figure,
  previous: z.object({ count, ratio: fraction }),
})

const Vital = z.object({
  p75: figure,
  count,
  previous_p75: figure,
  good: count.describe('Values below the limit of good, by the limits of web vitals.'),
  needs_work: count,
  poor: count.describe('Values from the limit of poor on.'),
})
const VITALS = ['lcp', 'inp', 'cls', 'fcp', 'ttfb'] as const
export type Vital = (typeof VITALS)[number]
const WebVitals = z
  .object({ lcp: Vital, inp: Vital, cls: Vital, fcp: Vital, ttfb: Vital })
  .describe('In milliseconds, CLS as a score.')

const BASES = ['ttid', 'lcp', 'fcp', 'duration'] as const
const Screen = FrameRatios.extend({
  name: z.string(),
  op: z.string().describe('`ui.load` for screens of apps, `pageload` or `navigation` for pages.'),
  count: count.describe('Loads.'),
  basis: z
    .enum(BASES)
    .describe('What `render` measures: time to initial display, for pages LCP or FCP, else the duration.'),
  render: Quantiles.describe('Time until the screen or page was shown.'),
  ttid: Quantiles,
  ttfd: Quantiles,
  previous_p75_ms: figure.describe('Of `render` in the range before, in milliseconds; null without values.'),
  compared: z
    .object({
      release_p75_ms: figure,
      release_count: count,
      previous_p75_ms: figure,
      previous_count: count,
      change: fraction.describe(
        'Growth of the p75 from the release before, where 0.18 is 18 % more; null while either has fewer than 20 values.',
      ),
    })
    .nullable()
    .describe('`render` in the two releases of `releases`; null without two.'),
})
z.globalRegistry.add(Screen, { id: 'Screen' })
export type Screen = z.infer<typeof Screen>

const Transaction = z.object({
  name: z.string(),
  op: z.string(),
  count,
  p50: figure.describe('Milliseconds; null without values.'),
  p75: figure,
  p95: figure,
  total_ms: Milliseconds.describe('All durations together, in milliseconds.'),
  throughput: Rate.describe('Per minute.'),
  failures: count,
  failure_rate: fraction,
  previous_p75: figure,
  previous_count: count,
  compared: z
    .object({
      release_p95_ms: figure,
      release_failure_rate: fraction,
      release_count: count,
      previous_p95_ms: figure,
      previous_failure_rate: fraction,
      previous_count: count,
      p95_change: fraction.describe(
        'Growth of the p95 from the release before; null while either has fewer than 20 values.',
      ),
      failure_rate_change: fraction.describe(
        'Rate of the release − rate of the release before; null while either has fewer than 20 values.',
      ),
    })
    .nullable()
    .describe('In the two releases of `releases`; null without two.'),
})
z.globalRegistry.add(Transaction, { id: 'Transaction' })
export type Transaction = z.infer<typeof Transaction>

const Rates = Quantiles.extend({
  total_ms: Milliseconds.describe('All durations together, in milliseconds.'),
  failures: count,
  failure_rate: fraction,
  throughput: Rate.describe('Per minute.'),
})
/** All transactions of a range, or those of a name, and the same of the range before. */
export const Requests = Rates.extend({ previous: Rates }).describe(
  'Durations of all transactions and segments together.',
)
export type Requests = z.infer<typeof Requests>

const limitOf = (value: typeof Milliseconds, unit: string) =>
  z
    .object({
      watch: value.describe('From here on the figure needs attention: four fifths of the limit.'),
      poor: value.describe('The limit.'),
      word: z
        .enum(['good', 'watch', 'poor'])
        .nullable()
        .describe(
          'Of the figure; null for fewer than 20 requests, and for a rate of fewer than 100 that may be chance.',
        ),
    })
    .nullable()
    .describe(`${unit}; null where the project sets none.`)

const Releases = z
  .object({ release: z.string(), previous: z.string() })
  .nullable()
  .describe(
    'The releases that screens and transactions are compared in: the newest measured one of those asked for, and the one before of the same app; null without two.',
  )

const Drain = z.object({
  p50: figure.describe('Percent per hour; null without readings.'),
  p75: figure,
  p95: figure,
  count: count.describe('Pairs of battery levels.'),
})
const DrainSource = Drain.extend({ name: z.string() })

const Battery = Drain.extend({
  previous: Drain,
  screens: z.array(DrainSource).nullable().describe('Most readings first, at most 10; null when filtered by device.'),
  releases: z.array(DrainSource),
  devices: z
    .array(DrainSource)
    .nullable()
    .describe('Null when filtered by something that devices do not combine with.'),
})

const AnrCause = z.object({
  call: z.string().describe('What blocked the main thread, and the first frame of the app below it.'),
  count,
  share: Rate,
  longest_ms: figure.describe('The longest wait, in milliseconds; null where events do not say it.'),
  issue_id: Id.nullable().describe('The issue with most of these events; null when it was deleted.'),
  short_id: z.string().nullable(),
})

const Point = z.object({
  t: Timestamp,
  incomplete: z.literal(true).optional().describe('The newest interval: it has not ended.'),
  cold_start: Quantiles,
  warm_start: Quantiles,
  ttid: Quantiles,
  ttfd: Quantiles,
  slow_frame_ratio: fraction,
  frozen_frame_ratio: fraction,
  lcp: figure.describe('p75, like the other web vitals; null without values.'),
  inp: figure,
  cls: figure,
  fcp: figure,
  ttfb: figure,
  transactions: Quantiles.extend({ failure_rate: fraction }),
  anrs: count,
  battery_drain: figure.describe('Median in percent per hour; null without readings.'),
  low_memory: count,
  thermal_serious: count,
  thermal_critical: count,
})

export const percentileSeconds = count.describe(
  'How long the intervals are whose percentiles the points have: `interval_seconds`, or a multiple of it where fewer than 20 values lie in an interval on average. The count of a point is that of its own interval.',
)

export const Performance = z.object({
  range: z.string(),
  interval_seconds: count,
  percentile_seconds: z.object({
    cold_start: percentileSeconds,
    warm_start: percentileSeconds,
    ttid: percentileSeconds,
    ttfd: percentileSeconds,
    transactions: percentileSeconds,
    lcp: percentileSeconds,
    inp: percentileSeconds,
    cls: percentileSeconds,
    fcp: percentileSeconds,
    ttfb: percentileSeconds,
  }),
  from: Timestamp,
  to: Timestamp.describe('End of the newest interval, which may lie in the future.'),
  releases: Releases,
  cold_start: Start,
  warm_start: Start,
  ttid: Display,
  ttfd: Display,
  frames: Frames,
  stalls: Stalls,
  web_vitals: WebVitals,
  requests: Requests,
  limits: z
    .object({
      p95_ms: limitOf(Milliseconds, 'Limit of the P95 in milliseconds'),
      failure_rate: limitOf(Rate, 'Limit of the share of failed requests, 0 to 1'),
    })
    .describe(
      'The limits of the project for `requests` (`request_p95_limit_ms`, `request_failure_limit`); null where it sets none, and with `name`.',
    ),
  screens: z
    .array(Screen)
    .nullable()
    .describe('The slowest 10 by p95 among the 200 with most loads; null when filtered by device.'),
  transactions: z.array(Transaction).nullable().describe('The 10 most frequent; null when filtered by device.'),
  anr_rate: fraction.describe(
    'Share of the users of sessions that met an ANR in the foreground, 0 to 1, as `GET /api/metrics`; null without sessions, by name, or for filters that sessions are not counted by together.',
  ),
  previous_anr_rate: fraction,
  anrs: z.object({ count, previous: count }).describe('Events that are ANRs or app hangs.'),
  anr_causes: z.array(AnrCause).nullable().describe('Most frequent first, at most 10; null when filtered by device.'),
  battery: Battery,
  memory: z.object({ warnings: count, previous: count }),
  thermal: z.object({ serious: count, critical: count, previous: z.object({ serious: count, critical: count }) }),
  wake_locks: z.object({
    count,
    long: count.describe('Two hours or more.'),
    share: fraction,
    p95_ms: figure,
    previous_share: fraction,
  }),
  series: z.array(Point),
})
z.globalRegistry.add(Performance, { id: 'PerformanceReport' })
export type Performance = z.infer<typeof Performance>
export type Point = z.infer<typeof Point>
export type Start = z.infer<typeof Start>

const SORTS = ['p50', 'p75', 'p95', 'count', 'total', 'failures', 'name'] as const
export type PerformanceSort = (typeof SORTS)[number] | `-${(typeof SORTS)[number]}`
const sorts = (keys: readonly (typeof SORTS)[number][], first: PerformanceSort) =>
  z
    .enum(
      keys.flatMap((key) => [key, `-${key}`] as const),
      { error: `sort must be one of ${keys.join(', ')}, with a leading - for descending.` },
    )
    .default(first)

const { limit, offset } = offsetQuery(25)
const page = { projectId: Id, range: performanceRange, ...performanceFilters, limit, offset, ...formatQuery }

const Screens = pageSchema(Screen).extend({ range: z.string(), releases: Releases })
const Transactions = pageSchema(Transaction).extend({ range: z.string(), releases: Releases })

const screensTable = csvTable(
  'screens',
  Screens,
  ({ items }) =>
    items.map(({ render, ttfd, compared, ...screen }) => ({
      ...screen,
      p50_ms: render.p50_ms,
      p75_ms: render.p75_ms,
      p95_ms: render.p95_ms,
      ttfd_p75_ms: ttfd.p75_ms,
      change: compared?.change ?? null,
    })),
  [
    'name',
    'op',
    'count',
    'basis',
    'p50_ms',
    'p75_ms',
    'p95_ms',
    'previous_p75_ms',
    'ttfd_p75_ms',
    'slow_frame_ratio',
    'frozen_frame_ratio',
    'change',
  ],
)

const transactionsTable = csvTable(
  'transactions',
  Transactions,
  ({ items }) =>
    items.map(({ compared, ...transaction }) => ({
      ...transaction,
      p95_change: compared?.p95_change ?? null,
      failure_rate_change: compared?.failure_rate_change ?? null,
    })),
  [
    'name',
    'op',
    'count',
    'p50',
    'p75',
    'p95',
    'previous_p75',
    'throughput',
    'failures',
    'failure_rate',
    'p95_change',
    'failure_rate_change',
  ],
)

const Part = z.object({ name: z.string(), render: Quantiles, ttfd_p75_ms: figure }).extend(FrameRatios.shape)

export const ScreenDetail = Screen.extend({
  range: z.string(),
  interval_seconds: count,
  releases: Releases,
  spread: Spread.describe('Of `render`.'),
  by_device_class: z.array(Part).describe('Slow devices first; an empty name where it is unknown.'),
  by_release: z.array(Part).describe('Most loads first, at most 25.'),
  percentile_seconds: percentileSeconds,
  series: z.array(Quantiles.extend({ t: Timestamp, incomplete: z.literal(true).optional() })).describe('Of `render`.'),
})
z.globalRegistry.add(ScreenDetail, { id: 'ScreenDetail' })
export type ScreenDetail = z.infer<typeof ScreenDetail>

const ABOUT_FILTERS =
  'Filters of one kind add up, filters of different kinds narrow. Values that arrive late count at their own time.'

/** Routes of performance figures. */
export const performanceRoutes = routes({
  readPerformance: {
    method: 'GET',
    path: '/api/performance',
    tag: 'Metrics',
    summary: 'Starts, screens, frames, web vitals, transactions, ANR causes and device signals of a project',
    description: `Whole intervals up to now, and the range before. ${ABOUT_FILTERS} \`device\` combines with release and environment only: with others the answer is 400, and what is not counted by device is null.`,
    permission: 'metrics.read',
    query: z.strictObject({
      projectId: Id,
      range: performanceRange,
      ...performanceFilters,
      device: values('device', 64).describe('May repeat. Model of the device, else its family.'),
      name: z.string().min(1).max(250).optional().describe('Only this screen or transaction.'),
    }),
    response: Performance,
    refusals: [404],
  },
  listScreens: {
    method: 'GET',
    path: '/api/performance/screens',
    tag: 'Metrics',
    summary: 'Screens and pages with the time until they were shown',
    description: ABOUT_FILTERS,
    permission: 'metrics.read',
    query: z.strictObject({ ...page, sort: sorts(['p50', 'p75', 'p95', 'count', 'name'], '-p95') }),
    response: Screens,
    csv: screensTable,
    refusals: [404],
  },
  readScreen: {
    method: 'GET',
    path: '/api/performance/screen',
    tag: 'Metrics',
    summary: 'A screen or page: its spread, by device class and by release',
    description: `404 where it was not shown in the range. ${ABOUT_FILTERS}`,
    permission: 'metrics.read',
    query: z.strictObject({
      projectId: Id,
      range: performanceRange,
      ...performanceFilters,
      name: z.string().min(1).max(250),
      op: z.string().min(1).max(64).optional().describe('Operation; the one with most loads unless given.'),
    }),
    response: ScreenDetail,
    refusals: [404],
  },
  listTransactions: {
    method: 'GET',
    path: '/api/performance/transactions',
    tag: 'Metrics',
    summary: 'Transactions and segments with throughput and failure rate',
    description: ABOUT_FILTERS,
    permission: 'metrics.read',
    query: z.strictObject({
      ...page,
      sort: sorts(['p50', 'p75', 'p95', 'count', 'total', 'failures', 'name'], '-count'),
    }),
    response: Transactions,
    csv: transactionsTable,
    refusals: [404],
  },
})
