import { RANGES } from '#shared/issue-values.ts'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Json } from '../../platform/kernel/json.api.ts'
import { Id, pageSchema, pageQuery, timeInput, Timestamp, oneOrMany } from '../../platform/kernel/page.api.ts'
import { LOG_LEVELS, METRIC_TYPES, type LogLevel as LevelName } from '../../events/protocol/telemetry.api.ts'

const LogLevel = z.enum(LOG_LEVELS, { error: `level must be one of ${LOG_LEVELS.join(', ')}.` })

const MetricType = z.enum(METRIC_TYPES, { error: `type must be one of ${METRIC_TYPES.join(', ')}.` })

const Attributes = z
  .record(z.string(), Json)
  .describe('By name: {"value", "type": string, integer, double, boolean or array, "unit"?}. Secrets are replaced.')
export const Notes = z
  .array(z.object({ name: z.string(), reason: z.string() }))
  .describe('What was dropped or corrected before it was stored.')

export const TraceId = z.string().describe('32 hex digits.').nullable()
const SpanId = z.string().describe('16 hex digits.').nullable()

export const LogItem = z.object({
  id: Id,
  project_id: Id,
  occurred_at: Timestamp.describe("The client's time, or the time of receipt when the client's is impossible."),
  received_at: Timestamp,
  level: LogLevel,
  severity_number: z.number().int().describe('Severity number of OpenTelemetry, 1 to 24.'),
  body: z.string(),
  trace_id: TraceId,
  span_id: SpanId,
  release: z.string().nullable(),
  environment: z.string(),
  attributes: Attributes,
  notes: Notes,
})
export type LogItem = z.infer<typeof LogItem>

export const TraceMetricItem = z.object({
  id: Id,
  project_id: Id,
  occurred_at: Timestamp,
  received_at: Timestamp,
  name: z.string(),
  type: MetricType,
  value: z.number(),
  unit: z.string().nullable(),
  trace_id: TraceId,
  span_id: SpanId,
  release: z.string().nullable(),
  environment: z.string(),
  attributes: Attributes,
  notes: Notes,
})
export type TraceMetricItem = z.infer<typeof TraceMetricItem>

export const ofProject = z.object({ projectId: Id })

export const receivedBetween = {
  from: timeInput('from').optional().describe('Only entries at or after this time.'),
  to: timeInput('to').optional().describe('Only entries before this time.'),
}

/** A query parameter that may repeat. */
export const repeatable = <T extends z.ZodType>(element: T) => oneOrMany(z.array(element).max(100).optional())

export const plainText = (name: string, max: number) =>
  z
    .string()
    .min(1, { error: `${name} must not be empty.` })
    .max(max, { error: `${name} must be at most ${max} characters.` })
    .refine((text) => !text.includes('\0'), { error: `${name} must not contain a NUL character.` })

const traceId = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/, { error: 'trace_id must be 32 hex digits.' })
  .optional()

/** The longest filter: a name, `=` and a value. */
const MAX_PAIR = 401

const pair = (parameter: string) =>
  plainText(parameter, MAX_PAIR).regex(/^[^=]+=/, { error: `${parameter} must be <attribute>=<value>.` })

const range = z
  .enum(RANGES, { error: `range must be one of ${RANGES.join(', ')}.` })
  .optional()
  .describe('Up to now, instead of from and to.')

const period = { range, ...receivedBetween }

const filters = {
  q: plainText('q', 200).optional().describe('Text in the body, ignoring case.'),
  trace_id: traceId,
  with: repeatable(pair('with')).describe(
    'Entries with this attribute, as `<name>=<value>`; all of several. `environment` and `release` are those of the entry.',
  ),
  without: repeatable(pair('without')).describe('Entries without this attribute, as `<name>=<value>`.'),
}

const count = z.number().int()
const levelCounts = {
  trace: count,
  debug: count,
  info: count,
  warn: count,
  error: count,
  fatal: count,
} satisfies Record<LevelName, unknown>

const searchedFrom = Timestamp.nullable().describe(
  'The oldest of the newest 100,000 entries of the range, when the search read only these; null when it read all.',
)

export const LogVolume = z.object({
  from: Timestamp,
  to: Timestamp.describe('Excluded; the last interval may not have ended.'),
  interval_seconds: count,
  totals: z.object(levelCounts),
  points: z.array(z.object({ t: Timestamp, ...levelCounts })).describe('Every interval, oldest first.'),
  newest_at: Timestamp.nullable().describe(
    'The minute of the newest entry of the project, whatever the filter; null when it has none.',
  ),
  searched_from: searchedFrom,
})
export type LogVolume = z.infer<typeof LogVolume>

export const LogAttributes = z.object({
  lines: count.describe('Entries that were read: the newest 500 that match.'),
  items: z
    .array(
      z.object({
        name: z.string(),
        lines: count.describe('Entries with the attribute.'),
        values: count.describe('Distinct values.'),
        top: z.array(z.object({ value: z.string(), lines: count })).describe('The five most frequent values.'),
      }),
    )
    .describe(
      'Those of most entries first; at most 40, so there is no total. Lists and values beyond 200 characters are left out.',
    ),
})
export type LogAttributes = z.infer<typeof LogAttributes>

export const MetricNames = z.object({
  items: z
    .array(
      z.object({
        name: z.string(),
        type: MetricType,
        unit: z.string().nullable(),
        last_value: z.number(),
        last_at: Timestamp,
      }),
    )
    .describe('By name, each with its newest measurement of the range; at most 200, so there is no total.'),
  has_more: z.boolean().describe('There are more than 200 names.'),
})
export type MetricNames = z.infer<typeof MetricNames>

/** Measurements have any size, so the digits that count are the first ones. */
const value = z
  .number()
  .overwrite((measured) => Number(measured.toPrecision(12)))
  .nullable()
const aggregates = { count, sum: value, avg: value, min: value, max: value, p50: value, p95: value, last: value }

export const MetricSeriesOfTraces = z.object({
  name: z.string(),
  type: MetricType.nullable().describe('Of the newest measurement; null without any.'),
  unit: z.string().nullable(),
  from: Timestamp,
  to: Timestamp,
  interval_seconds: count,
  searched_from: searchedFrom,
  total: z.object(aggregates),
  attributes: z.array(z.string()).describe('Names by which measurements can be grouped: those of the newest 500.'),
  groups: z
    .array(
      z.object({
        value: z.string().nullable().describe('Null for measurements without the attribute, or without grouping.'),
        is_rest: z.boolean().describe('All values that have no group of their own.'),
        total: z.object(aggregates),
        points: z.array(z.object({ t: Timestamp, ...aggregates })),
      }),
    )
    .describe('One without `by`; else the five values with the most measurements, and the rest.'),
})
export type MetricSeriesOfTraces = z.infer<typeof MetricSeriesOfTraces>

export const telemetryRoutes = routes({
  listLogs: {
    method: 'GET',
    path: '/api/projects/:projectId/logs',
    tag: 'Telemetry',
    summary: 'Log entries of a project, newest first',
    description:
      'From SDKs, OTLP and network error logging. A search by `q`, by attributes, or by levels below warn reads the newest 100,000 entries of the range; set `from` and `to` to search older ones.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({
      ...pageQuery(25),
      ...period,
      ...filters,
      level: repeatable(LogLevel),
    }),
    response: pageSchema(LogItem),
    refusals: [404],
  },
  readLogVolume: {
    method: 'GET',
    path: '/api/projects/:projectId/logs/volume',
    tag: 'Telemetry',
    summary: 'Number of log entries by time and level',
    description:
      'Exact without filters, however many there are. With `q`, attributes or `trace_id` it counts the newest 100,000 entries of the range. 24 hours unless `range`, or `from` and `to`, are given.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({ ...period, ...filters }),
    response: LogVolume,
    refusals: [404],
  },
  listLogAttributes: {
    method: 'GET',
    path: '/api/projects/:projectId/logs/attributes',
    tag: 'Telemetry',
    summary: 'Attributes of the newest log entries, with their most frequent values',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({ ...period, ...filters, level: repeatable(LogLevel) }),
    response: LogAttributes,
    refusals: [404],
  },
  listLogsAround: {
    method: 'GET',
    path: '/api/projects/:projectId/logs/around',
    tag: 'Telemetry',
    summary: 'Log entries of a project around a moment, newest first',
    description: 'At most fifty from the moment on, and fifty before it.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({ at: timeInput('at') }),
    response: z.object({ items: z.array(LogItem) }),
    refusals: [404],
  },
  listTraceMetrics: {
    method: 'GET',
    path: '/api/projects/:projectId/trace-metrics',
    tag: 'Telemetry',
    summary: 'Single measurements of a project, newest first',
    description: 'Counters, gauges and distributions as SDKs send them with a trace, not aggregated.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({
      ...pageQuery(25),
      ...receivedBetween,
      range,
      name: plainText('name', 200).optional(),
      type: MetricType.optional(),
      trace_id: traceId,
    }),
    response: pageSchema(TraceMetricItem),
    refusals: [404],
  },
  listTraceMetricNames: {
    method: 'GET',
    path: '/api/projects/:projectId/trace-metrics/names',
    tag: 'Telemetry',
    summary: 'Names of the measurements of a project',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({ ...period }),
    response: MetricNames,
    refusals: [404],
  },
  readTraceMetric: {
    method: 'GET',
    path: '/api/projects/:projectId/trace-metrics/series',
    tag: 'Telemetry',
    summary: 'Measurements of a name by time, aggregated',
    description:
      'Of the newest 100,000 measurements of the range; `searched_from` says when that is not all of it. Intervals are longer where there are few measurements. Percentiles are exact, and null below 20 measurements.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({
      ...period,
      name: plainText('name', 200),
      by: plainText('by', 200).optional().describe('Name of an attribute, `environment` or `release`.'),
    }),
    response: MetricSeriesOfTraces,
    refusals: [404],
  },
})
