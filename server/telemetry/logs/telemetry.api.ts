import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Json } from '../../platform/kernel/json.api.ts'
import { Id, pageSchema, pageQuery, timeInput, Timestamp } from '../../platform/kernel/page.api.ts'
import { LOG_LEVELS, METRIC_TYPES } from '../../events/protocol/telemetry.api.ts'

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
export const repeatable = <T extends z.ZodType>(element: T) =>
  z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(element).max(100).optional(),
  )

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

export const telemetryRoutes = routes({
  listLogs: {
    method: 'GET',
    path: '/api/projects/:projectId/logs',
    tag: 'Telemetry',
    summary: 'Log entries of a project, newest first',
    description:
      'From SDKs, OTLP and network error logging. `q` finds text in the body, ignoring case. A search by `q`, or by levels below error, reads the newest 100,000 entries of the range; set `from` and `to` to search older ones.',
    permission: 'issues.read',
    params: ofProject,
    query: z.strictObject({
      ...pageQuery(25),
      ...receivedBetween,
      level: repeatable(LogLevel),
      q: plainText('q', 200).optional(),
      trace_id: traceId,
    }),
    response: pageSchema(LogItem),
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
      name: plainText('name', 200).optional(),
      type: MetricType.optional(),
      trace_id: traceId,
    }),
    response: pageSchema(TraceMetricItem),
    refusals: [404],
  },
})
