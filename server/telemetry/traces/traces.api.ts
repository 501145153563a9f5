import { z } from 'zod'
import { RANGES } from '#shared/issue-values.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Milliseconds, pageQuery, pageSchema, timeInput, Timestamp } from '../../platform/kernel/page.api.ts'
import { plainText, repeatable } from '../logs/telemetry.api.ts'

/** Traces: the list, and the waterfall of one. */

const TraceIdText = z.string().describe('32 hex digits.')
const SpanId = z.string().describe('16 hex digits.')

const spanFields = {
  span_id: SpanId,
  parent_span_id: SpanId.nullable(),
  op: z.string(),
  description: z.string(),
  status: z.enum(['ok', 'error']),
  is_segment: z.boolean().describe('The first span of the trace in a service, like a transaction.'),
  start_ms: Milliseconds.describe('Milliseconds after `started_at`, by corrected clocks.'),
  duration_ms: Milliseconds,
  data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
}

const eventFields = {
  event_id: z.string().describe('32 hex digits.'),
  issue_id: Id,
  short_id: z.string(),
  title: z.string(),
  level: z.string(),
  occurred_at: Timestamp,
  span_id: SpanId.nullable(),
}

export const KEPT_BECAUSE = ['error', 'slow', 'recent'] as const
const KeptBecause = z
  .enum(KEPT_BECAUSE)
  .describe('error: it holds an error. slow: among the slowest of its transaction and hour. recent: not decided yet.')

const count = z.number().int()
const samplingFields = {
  transactions: count.describe('Transactions and segments that arrived.'),
  considered: count.describe('Those whose spans were considered: about 600 a minute of an organisation.'),
  kept: count.describe('Traces kept, at most 2,000 per project and day.'),
}

export const ProjectTrace = z.object({
  trace_id: TraceIdText,
  project_id: Id,
  kept_because: KeptBecause,
  name: z.string().nullable().describe('Of its first segment; null while none has arrived.'),
  started_at: Timestamp,
  duration_ms: Milliseconds,
  spans: z.array(z.object(spanFields)).describe('By start.'),
  spans_left_out: count.describe('Further spans that arrived with them: beyond 1,000, or invalid.'),
  errors: z.array(z.object(eventFields)).describe('Stored error events of the trace, oldest first; at most 100.'),
  sampling: z.object(samplingFields).describe('Of the project on the UTC day on which the trace arrived.'),
})
z.globalRegistry.add(ProjectTrace, { id: 'ProjectTrace' })
export type ProjectTrace = z.infer<typeof ProjectTrace>

const TraceProject = z.object({
  project_id: Id,
  name: z.string(),
  spans: count,
  path_ms: Milliseconds.describe('Its time on the critical path, in milliseconds.'),
})

export const Trace = z.object({
  trace_id: TraceIdText,
  kept_because: KeptBecause,
  name: z.string().describe('Of its first span; empty without one.'),
  op: z.string(),
  started_at: Timestamp.describe('By corrected clocks.'),
  duration_ms: Milliseconds.describe('Milliseconds until its last span ended.'),
  wait_ms: Milliseconds.describe('Length of its first span in milliseconds: the sum of the critical path.'),
  root_span_id: SpanId.nullable(),
  projects: z
    .array(
      TraceProject.extend({
        releases: z.array(z.string()),
        environments: z.array(z.string()),
        clock_shift_ms: Milliseconds.describe(
          'Milliseconds by which its times were moved, because its clock is impossible; else 0.',
        ),
      }),
    )
    .describe('The project of the first span first.'),
  silent_projects: z
    .array(z.object({ project_id: Id, name: z.string() }))
    .describe('Projects that took part, by their errors, log lines or parts, but whose spans are not among `spans`.'),
  spans: z
    .array(z.object({ ...spanFields, project_id: Id }))
    .describe('By start; at most 10,000. Parents that were not received are named.'),
  spans_left_out: count.describe('Further spans that arrived: beyond the limits, or invalid.'),
  critical_path: z
    .array(z.object({ span_id: SpanId, start_ms: Milliseconds, duration_ms: Milliseconds }))
    .describe('For each moment of the first span, the span that its end waited for. Pieces follow each other.'),
  errors: z
    .array(
      z.object({
        ...eventFields,
        project_id: Id,
        at_ms: Milliseconds.describe('Milliseconds after `started_at`, like start_ms.'),
      }),
    )
    .describe('Stored error events, oldest first; at most 100.'),
  logs: z
    .array(
      z.object({
        id: Id,
        project_id: Id,
        occurred_at: Timestamp,
        at_ms: Milliseconds.describe('Milliseconds after `started_at`, like start_ms.'),
        level: z.string(),
        body: z.string().describe('Its first 500 characters.'),
        span_id: SpanId.nullable(),
      }),
    )
    .describe('Log entries, oldest first; at most 500.'),
  logs_capped: z.boolean().describe('It has further log entries.'),
  sampling: z.object(samplingFields).describe('Of the organisation on the UTC day on which the trace arrived.'),
})
z.globalRegistry.add(Trace, { id: 'Trace' })
export type Trace = z.infer<typeof Trace>

export const TraceItem = z.object({
  trace_id: TraceIdText,
  kept_because: KeptBecause,
  name: z.string(),
  op: z.string(),
  started_at: Timestamp,
  duration_ms: Milliseconds,
  status: z.enum(['ok', 'error']).describe('error: a segment failed, or it holds an error event.'),
  spans: count,
  errors: count.describe('Error events that it holds.'),
  projects: z.array(TraceProject).describe('The project of the first span first.'),
})
z.globalRegistry.add(TraceItem, { id: 'TraceSummary' })
export type TraceItem = z.infer<typeof TraceItem>

const Facet = z.array(z.object({ value: z.string(), count })).describe('The most frequent first, at most 20.')

const TraceOverview = z.object({
  from: Timestamp,
  to: Timestamp,
  total: count.describe('Traces that the filters match.'),
  searched: count.describe('Stored traces of the range that were searched: the newest 20,000.'),
  facets: z
    .object({
      project: z.array(z.object({ value: Id, name: z.string(), count })),
      status: Facet,
      op: Facet.describe('Operation of the first span.'),
      name: Facet.describe('Names of transactions.'),
      release: Facet,
      environment: Facet,
    })
    .describe('Counts of traces, each without the filter of its own name.'),
  durations: z
    .array(z.object({ from_ms: Milliseconds, to_ms: Milliseconds, count }))
    .describe('Three steps for each power of ten; each without the filter of durations.'),
  points: z
    .array(
      z.object({
        trace_id: TraceIdText,
        started_at: Timestamp,
        duration_ms: Milliseconds,
        status: z.enum(['ok', 'error']),
        matches: z.boolean().describe('Also the filters of duration and status.'),
      }),
    )
    .describe(
      'Traces that the filters match, apart from duration and status; at most 600, the newest matching ones first.',
    ),
  sampling: z
    .object({ from: z.iso.date(), ...samplingFields })
    .describe('Of the organisation or project on the UTC days of the range, as far as they are stored.'),
})
export type TraceOverview = z.infer<typeof TraceOverview>

const milliseconds = (name: string) =>
  z
    .string()
    .regex(/^\d{1,9}(?:\.\d{1,6})?$/, { error: `${name} must be a number of milliseconds from 0 to 999,999,999.` })
    .transform(Number)
    .meta({ type: 'number', minimum: 0 })
    .optional()

const several = (name: string, max: number) => repeatable(plainText(name, max))

const filters = {
  projectId: Id.optional().describe('Traces in which this project takes part.'),
  range: z.enum(RANGES, { error: `range must be one of ${RANGES.join(', ')}.` }).default('24h'),
  from: timeInput('from').optional().describe('With `to` instead of the range.'),
  to: timeInput('to').optional(),
  op: several('op', 100).describe('Operation of the first span. May repeat.'),
  name: several('name', 300).describe('Name of a transaction in it. May repeat.'),
  status: repeatable(z.enum(['ok', 'error'], { error: 'status must be ok or error.' })),
  min_ms: milliseconds('min_ms').describe('Only traces that took at least this long.'),
  max_ms: milliseconds('max_ms'),
  release: several('release', 250).describe('Release of a segment in it. May repeat.'),
  environment: several('environment', 64).describe('May repeat.'),
  tag: several('tag', 300).describe('`key:value` of a segment. May repeat: all of them.'),
  q: plainText('q', 200).optional().describe('Text in names, releases and tags, ignoring case; or a trace id.'),
}

const ABOUT =
  'Traces that hold an error, and the three slowest of each transaction and hour, are kept for 7 days, each as a whole across projects: at most 2,000 per project and day.'

export const traceRoutes = routes({
  listTraces: {
    method: 'GET',
    path: '/api/traces',
    tag: 'Telemetry',
    summary: 'Stored traces of the organisation, newest first',
    description: `${ABOUT} Those of the last minutes are listed too. Searches the newest 20,000 traces of the range.`,
    permission: 'issues.read',
    query: z.strictObject({ ...pageQuery(25), ...filters }),
    response: pageSchema(TraceItem),
    refusals: [404],
  },
  readTraceOverview: {
    method: 'GET',
    path: '/api/traces/overview',
    tag: 'Telemetry',
    summary: 'Counts, durations and points of the traces that filters match',
    permission: 'issues.read',
    query: z.strictObject(filters),
    response: TraceOverview,
    refusals: [404],
  },
  readTrace: {
    method: 'GET',
    path: '/api/traces/:traceId',
    tag: 'Telemetry',
    summary: 'A trace across all projects of the organisation',
    description: `${ABOUT} 404 for one that was not kept. Clocks that are impossible are corrected: a call lies within its caller, nothing ends after its receipt.`,
    permission: 'issues.read',
    params: z.object({ traceId: traceIdInput() }),
    response: Trace,
    refusals: [404],
  },
  readProjectTrace: {
    method: 'GET',
    path: '/api/projects/:projectId/traces/:traceId',
    tag: 'Telemetry',
    summary: 'The part of a trace that one project sent',
    description: `${ABOUT} 404 for one that was not kept.`,
    permission: 'issues.read',
    params: z.object({ projectId: Id, traceId: traceIdInput() }),
    response: ProjectTrace,
    refusals: [404],
  },
})

function traceIdInput() {
  return z.string().regex(/^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/, {
    error: 'traceId must be 32 hex digits.',
  })
}
