import { RANGES } from '#shared/issue-values.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { csvTable, formatQuery } from '../../platform/kernel/csv.ts'
import { Id, offsetQuery, Rate, Timestamp, oneOrMany } from '../../platform/kernel/page.api.ts'
import { Verdict } from '../release-health/release-health.api.ts'
import { Finding } from './finding.api.ts'

/** Dimensions by which sessions are counted. */
const DIMENSIONS = ['release', 'environment', 'os', 'device', 'device_class'] as const

export const METRICS = ['crash_rate', 'anr_rate', 'event_count', 'user_count'] as const
export type Metric = (typeof METRICS)[number]

/** The longest name that is stored of a release, environment, system or device. */
const MAX_NAME_CHARACTERS = 200
const MAX_VALUES = 20

/** A filter that may repeat. A comma is part of a name. */
const names = (name: string) =>
  oneOrMany(
    z
      .array(
        z
          .string()
          .min(1, { error: `${name} must not be empty.` })
          .max(MAX_NAME_CHARACTERS, { error: `${name} must be at most ${MAX_NAME_CHARACTERS} characters.` }),
      )
      .max(MAX_VALUES, { error: `${name} may be given at most ${MAX_VALUES} times.` }),
  )
    .optional()
    .describe('May repeat; any of them matches. A comma is part of a name.')

export const DEVICE_CLASSES = ['low', 'medium', 'high'] as const

export const rangeQuery = z
  .enum(RANGES, { error: `range must be one of ${RANGES.join(', ')}.` })
  .default('24h')
  .describe('Whole intervals up to now.')

export const healthFilters = {
  release: names('release'),
  environment: names('environment'),
  os: names('os').describe('Name of the operating system, without version. May repeat.'),
  device: names('device').describe('Device model. May repeat.'),
  device_class: oneOrMany(
    z
      .array(z.enum(DEVICE_CLASSES, { error: `device_class must be one of ${DEVICE_CLASSES.join(', ')}.` }))
      .max(MAX_VALUES, { error: `device_class may be given at most ${MAX_VALUES} times.` }),
  )
    .optional()
    .describe('May repeat.'),
}

const fraction = Rate.nullable()
const count = z.number().int()

/** Beside a value, as far as the metric has them and they are known. */
const figures = {
  sessions: count.optional(),
  crashed: count.optional().describe('Crashed sessions.'),
  unhandled: count
    .optional()
    .describe('Sessions with an unhandled error that the project does not count as crashed (`unhandled_is_crash`).'),
  anr: count.optional().describe('Sessions that ended with an ANR in the foreground.'),
  users: count
    .nullable()
    .optional()
    .describe(
      'Distinct users of sessions; null when no session names its user, and beside a rate by sessions of filters that combine.',
    ),
  crashed_users: count.nullable().optional(),
  anr_users: count
    .nullable()
    .optional()
    .describe('Users with an ANR in the foreground; null when no session names its user.'),
  background: fraction.optional().describe('The rate of ANRs in the background; null like the value beside it.'),
  critical: count.optional().describe('Critical events.'),
  active: count.nullable().optional().describe('Distinct users of sessions; null when no session names its user.'),
}
const Figures = z.object(figures)

const Point = z.object({
  t: Timestamp.describe('Start of the interval, UTC.'),
  value: Rate.nullable(),
  incomplete: z.literal(true).optional().describe('The current interval, which has not ended.'),
  ...figures,
})

const By = z.enum(['sessions', 'users'], { error: 'by must be sessions or users.' })

export const MetricSeries = z.object({
  metric: z.enum(METRICS),
  range: rangeQuery,
  interval_seconds: count,
  by: By.nullable().describe('What a rate is a share of; null for counts.'),
  basis: z
    .enum(['sessions', 'users', 'events'])
    .nullable()
    .describe(
      'What the values come from: `events` when a rate is unknown and only `estimate` is there; null when nothing is.',
    ),
  points: z.array(Point).describe('Every interval, oldest first: empty ones are 0 for counts and null for rates.'),
  previous_points: z
    .array(z.object({ t: Timestamp, value: Rate.nullable(), active: count.nullable().optional() }))
    .describe('The same of the range before, without what is beside the values; of `user_count` with `active`.'),
  total: Rate.nullable().describe(
    'Over the whole range. Users are counted once, so this is not a sum. A rate is null without sessions, or users, of which it is a share.',
  ),
  previous_total: Rate.nullable(),
  totals: Figures,
  previous_totals: Figures,
  estimate: z
    .object({ value: Rate, affected_users: count, users: count })
    .nullable()
    .describe(
      'Without sessions: users with a crash (or ANR) ÷ all users of error events. Far above the real rate, because users without an error send no event. Null with sessions, and when no event names its user.',
    ),
  bands: z
    .object({ watch: Rate, poor: Rate })
    .nullable()
    .describe('From which values a rate is watch or poor; null for counts.'),
  word: z
    .enum(['good', 'watch', 'poor'])
    .nullable()
    .describe(
      'Of the total. Null for counts, and for a share of users over more than a day: limits are of daily users (`GET /api/store-guard`). Below 100 sessions or users null, or poor where it is over the limit beyond chance.',
    ),
  finding: Finding.nullable(),
})
export type MetricSeries = z.infer<typeof MetricSeries>

const seriesTable = csvTable('metrics', MetricSeries, ({ points }) => points, [
  't',
  'value',
  'incomplete',
  'sessions',
  'crashed',
  'unhandled',
  'anr',
  'users',
  'crashed_users',
  'anr_users',
  'background',
  'critical',
  'active',
])

const { limit, offset } = offsetQuery(25)

const BREAKDOWN_SORTS = ['sessions', 'crash_rate', 'anr_rate', 'name'] as const
const BreakdownSort = z.enum(
  BREAKDOWN_SORTS.flatMap((key) => [key, `-${key}`] as const),
  { error: `sort must be one of ${BREAKDOWN_SORTS.join(', ')}, with a leading - for descending.` },
)
export type BreakdownSort = z.infer<typeof BreakdownSort>

const Word = z.enum(['good', 'watch', 'poor']).nullable()

const BreakdownRow = z.object({
  name: z.string().nullable().describe('Null for sessions whose value is unknown.'),
  share: Rate.describe('Of all sessions of the range, 0 to 1.'),
  sessions: count,
  crashed: count,
  unhandled: count,
  anr: count.describe('Sessions with an ANR in the foreground.'),
  users: count.nullable().describe('Null when no session names its user.'),
  crashed_users: count.nullable(),
  anr_users: count.nullable(),
  crash_rate: fraction.describe('Crashed sessions ÷ sessions; null without sessions.'),
  crash_rate_users: fraction.describe('Crashed users ÷ users; null when no session names its user.'),
  anr_rate: fraction.describe(
    'Users with an ANR in the foreground ÷ users; of sessions when none names its user. Null without sessions.',
  ),
  word: Word.describe(
    'The worse of both rates; below 100 sessions null, or poor where one is over its limit beyond chance. Of devices against the limit per model. Over more than a day only the crash rate: the limit of ANRs is of daily users.',
  ),
})

export const Breakdown = z.object({
  range: rangeQuery,
  dimension: z.enum(DIMENSIONS),
  sort: BreakdownSort,
  limit: count,
  offset: count,
  sessions: count.describe('Of the range, with those that have no value.'),
  rows: z.array(BreakdownRow),
  unknown: BreakdownRow.nullable().describe('Sessions without a value of the dimension; null when there are none.'),
  other: z
    .object({
      names: count.describe('Values that are not shown.'),
      sessions: count,
      crashed: count,
      beyond_limit: count.describe('Sessions whose value exceeded the daily limit of names and is not known.'),
    })
    .nullable()
    .describe('Everything that is not shown; null when all of it is.'),
  coverage: fraction.describe(
    'Share of sessions whose value is known, 0 to 1. Users with crashes become known more often, so with a low share rates are too high. Null without sessions.',
  ),
})
export type Breakdown = z.infer<typeof Breakdown>

const breakdownTable = csvTable(
  'breakdown',
  Breakdown,
  ({ rows, unknown }) => [...rows, ...(unknown === null ? [] : [unknown])],
  [
    'name',
    'share',
    'sessions',
    'crashed',
    'unhandled',
    'anr',
    'users',
    'crashed_users',
    'anr_users',
    'crash_rate',
    'crash_rate_users',
    'anr_rate',
    'word',
  ],
)

const card = {
  value: Rate.nullable(),
  previous: Rate.nullable().describe('Of the range before; a rate is null without sessions, or users, there.'),
  trend: z.array(Rate.nullable()).describe('By interval, oldest first.'),
  finding: Finding.nullable(),
}
const CountCard = z.object({ ...card, change: fraction.describe('0.18 is 18 % more; null without a range before.') })
const Estimate = MetricSeries.shape.estimate
const RateCard = z.object({
  ...card,
  change: Rate.nullable().describe(
    'value − previous, as a share: 0.01 is one percentage point more. Null when either is.',
  ),
  word: Word,
  basis: MetricSeries.shape.basis,
  estimate: Estimate,
  latest: fraction.describe('The last whole interval; null without sessions, or users, in it.'),
  limit: z
    .object({
      value: Rate,
      share: fraction.describe(
        'Rate ÷ limit: 1 is at the limit. Of ANRs over more than a day the rate is that of 28 days (`GET /api/store-guard`). Null when the rate is.',
      ),
    })
    .describe('Of app stores.'),
})

export const Overview = z.object({
  project_id: Id.nullable().describe('Null for all projects of the organisation.'),
  range: rangeQuery,
  interval_seconds: count,
  cards: z.object({
    crash_rate: RateCard.describe('Of sessions.'),
    anr_rate: RateCard.describe('Of users.'),
    event_count: CountCard.extend({ critical: count }),
    user_count: CountCard.extend({
      active: count.nullable(),
      previous_active: count.nullable(),
      crashed_users: count.nullable(),
      crash_free_users: fraction,
    }).describe('Users of error events; the active ones are those of sessions.'),
  }),
  releases: z
    .array(
      z.object({
        release_id: Id,
        project_id: Id,
        version: z.string(),
        adoption: fraction,
        sessions: count.nullable(),
        crash_free_sessions: fraction,
        crash_free_users: fraction,
        verdict: Verdict,
        verdict_reason: z.string(),
      }),
    )
    .describe('The newest five.'),
  issues: z
    .object({ open: count, new: count, regressed: count, escalated: count, critical: count })
    .describe('Open issues now, and those first seen in the range; each counted up to 10,000.'),
  intake: z
    .object({
      accepted: count,
      filtered: count,
      rate_limited: count,
      dropped: count,
      events_per_day: count.nullable(),
      used_today: count,
    })
    .describe('Error events by outcome in the range, by whole hours of receipt, and the quota of the organisation.'),
})
export type Overview = z.infer<typeof Overview>

const Day = z.iso.date().describe('UTC.')
const GuardedRate = z.object({
  rate: fraction.describe('Σ affected users of each day ÷ Σ active users of each day; null below 1,000 user-days.'),
  user_days: count,
  affected_user_days: count,
  state: Word,
  forecast: z
    .object({
      passes_limit_at: Timestamp,
      days: count.describe('From the last whole day on.'),
      slope_per_day: Rate,
    })
    .nullable()
    .describe(
      'When the rate passes the limit at its slope; null when it is over the limit, when it does not rise or only by chance, and later than in 90 days.',
    ),
  days: z
    .array(z.object({ day: Day, rate_of_window: fraction, users: count, affected: count }))
    .describe('The window: users of each day, and the rate of the 28 days that end with it.'),
})

export const StoreGuard = z.object({
  window_days: count,
  limits: z.object({ crash_rate: Rate, anr_rate: Rate, device: Rate }),
  crash: GuardedRate,
  anr: GuardedRate.describe('ANRs in the foreground.'),
  devices: z
    .array(z.object({ device: z.string(), user_days: count, crash_rate: Rate, anr_rate: Rate, state: Word }))
    .describe('Models with at least 1,000 user-days, the highest rate first, at most 50.'),
})
export type StoreGuard = z.infer<typeof StoreGuard>

const storeGuardTable = csvTable('store-guard', StoreGuard, ({ devices }) => devices, [
  'device',
  'user_days',
  'crash_rate',
  'anr_rate',
  'state',
])

export const metricsRoutes = routes({
  readMetrics: {
    method: 'GET',
    path: '/api/metrics',
    tag: 'Metrics',
    summary: 'Crash rate, ANR rate, events or users over a range',
    description:
      'Rates are fractions of sessions or users, null (never 0) where nothing is known. Intervals: 1h 60 s, 24h 15 min, 7d 1 h, 30d 6 h. Late data counts in the interval of its own time. See docs/metrics.md.',
    permission: 'metrics.read',
    query: z.strictObject({
      projectId: Id,
      range: rangeQuery,
      metric: z.enum(METRICS, { error: `metric must be one of ${METRICS.join(', ')}.` }),
      by: By.optional().describe('For rates. Default: sessions for crash_rate, users for anr_rate.'),
      ...healthFilters,
      ...formatQuery,
    }),
    response: MetricSeries,
    csv: seriesTable,
    refusals: [404],
  },
  readBreakdown: {
    method: 'GET',
    path: '/api/metrics/breakdown',
    tag: 'Metrics',
    summary: 'Sessions by release, environment, system, device model or device class',
    description:
      'Sorted by a rate, few sessions count less: by the bound of the 95 % interval, so one crash in one session is not the worst device.',
    permission: 'metrics.read',
    query: z.strictObject({
      projectId: Id,
      range: rangeQuery,
      dimension: z.enum(DIMENSIONS, { error: `dimension must be one of ${DIMENSIONS.join(', ')}.` }),
      ...healthFilters,
      limit,
      offset,
      sort: BreakdownSort.default('-sessions'),
      ...formatQuery,
    }),
    response: Breakdown,
    csv: breakdownTable,
    refusals: [404],
  },
  readOverview: {
    method: 'GET',
    path: '/api/overview',
    tag: 'Metrics',
    summary: 'The four metrics, releases, issues and intake of a project or of the organisation',
    permission: 'metrics.read',
    query: z.strictObject({
      projectId: Id.optional().describe('All projects of the organisation by default.'),
      range: rangeQuery,
    }),
    response: Overview,
    refusals: [404],
  },
  readStoreGuard: {
    method: 'GET',
    path: '/api/store-guard',
    tag: 'Metrics',
    summary: 'User-perceived crash and ANR rate over 28 days against the limits of app stores, with a forecast',
    description: 'Over the last 28 whole days of UTC, of all sessions and by device model. As CSV: the device models.',
    permission: 'metrics.read',
    query: z.strictObject({ projectId: Id, ...formatQuery }),
    response: StoreGuard,
    csv: storeGuardTable,
    refusals: [404],
  },
})
