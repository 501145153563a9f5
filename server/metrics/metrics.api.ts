import { RANGES } from '#shared/issue-values.ts'
import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { csvTable, formatQuery } from '../kernel/csv.ts'
import { Id, Timestamp } from '../kernel/page.api.ts'
import { Finding } from './finding.api.ts'

export const METRICS = ['crash_rate', 'anr_rate', 'event_count', 'user_count'] as const
export type Metric = (typeof METRICS)[number]

/** The longest name that is stored of a release, environment, system or device. */
const MAX_NAME_CHARACTERS = 200
const MAX_VALUES = 20

/** A filter that may repeat. A comma is part of a name. */
const names = (name: string) =>
  z
    .preprocess(
      (given) => (given === undefined || Array.isArray(given) ? given : [given]),
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
  device_class: z
    .preprocess(
      (given) => (given === undefined || Array.isArray(given) ? given : [given]),
      z
        .array(z.enum(DEVICE_CLASSES, { error: `device_class must be one of ${DEVICE_CLASSES.join(', ')}.` }))
        .max(MAX_VALUES, { error: `device_class may be given at most ${MAX_VALUES} times.` }),
    )
    .optional()
    .describe('May repeat.'),
}

const fraction = z.number().nullable()
const count = z.number().int()

/** Beside a value, as far as the metric has them and they are known. */
const figures = {
  sessions: count.optional(),
  crashed: count.optional().describe('Crashed sessions.'),
  unhandled: count
    .optional()
    .describe('Sessions with an unhandled error that the project does not count as crashed (`unhandled_is_crash`).'),
  anr: count.optional().describe('Sessions that ended with an ANR in the foreground.'),
  users: count.nullable().optional().describe('Distinct users of sessions; null when no session names its user.'),
  crashed_users: count.nullable().optional(),
  anr_users: count.nullable().optional().describe('Users with an ANR in the foreground.'),
  background: fraction.optional().describe('The rate of ANRs in the background.'),
  critical: count.optional().describe('Critical events.'),
  active: count.nullable().optional().describe('Distinct users of sessions; null without sessions.'),
}
const Figures = z.object(figures)

const Point = z.object({
  t: Timestamp.describe('Start of the interval, UTC.'),
  value: z.number().nullable(),
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
    .array(z.object({ t: Timestamp, value: z.number().nullable() }))
    .describe('The same of the range before.'),
  total: z.number().nullable().describe('Over the whole range. Users are counted once, so this is not a sum.'),
  previous_total: z.number().nullable(),
  totals: Figures,
  previous_totals: Figures,
  estimate: z
    .object({ value: z.number(), affected_users: count, users: count })
    .nullable()
    .describe(
      'Without sessions: users with a crash (or ANR) ÷ all users of error events. Far above the real rate, because users without an error send no event.',
    ),
  bands: z
    .object({ watch: z.number(), poor: z.number() })
    .nullable()
    .describe('From which values a rate is watch or poor; null for counts.'),
  word: z
    .enum(['good', 'watch', 'poor'])
    .nullable()
    .describe('Of the total; null for counts and below 100 sessions or users.'),
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
})
