import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Json } from '../kernel/json.api.ts'
import { Id, pageOf, pageQuery, timeInput, Timestamp } from '../kernel/page.api.ts'
import { LOG_LEVELS, METRIC_TYPES, SENT_STATUSES } from '../protocol/telemetry.api.ts'

const LogLevel = z.enum(LOG_LEVELS, { error: `level must be one of ${LOG_LEVELS.join(', ')}.` })

const MetricType = z.enum(METRIC_TYPES, { error: `type must be one of ${METRIC_TYPES.join(', ')}.` })

const RunStatus = z.enum(SENT_STATUSES, { error: `status must be one of ${SENT_STATUSES.join(', ')}.` })

const Attributes = z
  .record(z.string(), Json)
  .describe('By name: {"value", "type": string, integer, double, boolean or array, "unit"?}. Secrets are replaced.')
const Notes = z
  .array(z.object({ name: z.string(), reason: z.string() }))
  .describe('What was dropped or corrected before it was stored.')

const TraceId = z.string().describe('32 hex digits.').nullable()
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

const Monitor = z.object({
  id: Id,
  slug: z.string(),
  schedule: z
    .object({
      type: z.enum(['crontab', 'interval']),
      value: z.union([z.string(), z.number()]).describe('The crontab, or the number of units.'),
      unit: z.string().nullable(),
    })
    .nullable()
    .describe('Null until a check-in sends one.'),
  timezone: z.string().nullable(),
  checkin_margin_minutes: z.number().int().nullable(),
  max_runtime_minutes: z.number().int().nullable(),
  failure_issue_threshold: z.number().int().nullable(),
  recovery_threshold: z.number().int().nullable(),
  owner: z.string().nullable(),
})

export const CheckInItem = z.object({
  id: z.string().describe('32 hex digits; unique within its monitor.'),
  project_id: Id,
  monitor: Monitor,
  status: RunStatus,
  environment: z.string(),
  release: z.string().nullable(),
  trace_id: TraceId,
  duration_ms: z.number().int().nullable().describe('As sent, else from start to end; null while the job runs.'),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  received_at: Timestamp.describe('Receipt of its first check-in.'),
  updated_at: Timestamp,
  notes: Notes,
})
export type CheckInItem = z.infer<typeof CheckInItem>

const params = z.object({ projectId: Id })

const range = {
  from: timeInput('from').optional().describe('Only entries at or after this time.'),
  to: timeInput('to').optional().describe('Only entries before this time.'),
}

/** A query parameter that may repeat. */
const repeatable = <T extends z.ZodType>(element: T) =>
  z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(element).max(100).optional(),
  )

const plain = (name: string, max: number) =>
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
    params,
    query: z.strictObject({
      ...pageQuery(25),
      ...range,
      level: repeatable(LogLevel),
      q: plain('q', 200).optional(),
      trace_id: traceId,
    }),
    response: pageOf(LogItem),
    refusals: [404],
  },
  listTraceMetrics: {
    method: 'GET',
    path: '/api/projects/:projectId/trace-metrics',
    tag: 'Telemetry',
    summary: 'Single measurements of a project, newest first',
    description: 'Counters, gauges and distributions as SDKs send them with a trace, not aggregated.',
    permission: 'issues.read',
    params,
    query: z.strictObject({
      ...pageQuery(25),
      ...range,
      name: plain('name', 200).optional(),
      type: MetricType.optional(),
      trace_id: traceId,
    }),
    response: pageOf(TraceMetricItem),
    refusals: [404],
  },
  listCheckIns: {
    method: 'GET',
    path: '/api/projects/:projectId/check-ins',
    tag: 'Telemetry',
    summary: 'Runs of scheduled jobs, newest first',
    description:
      'One item per run, with its monitor and schedule. `from` and `to` refer to the receipt of its first check-in.',
    permission: 'issues.read',
    params,
    query: z.strictObject({
      ...pageQuery(25),
      ...range,
      monitor: plain('monitor', 100).optional().describe('Slug of a monitor.'),
      status: repeatable(RunStatus),
      environment: plain('environment', 64).optional(),
    }),
    response: pageOf(CheckInItem),
    refusals: [404],
  },
})
