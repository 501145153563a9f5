import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** The waterfall of one trace. */

const SpanId = z.string().describe('16 hex digits.')

export const TraceSpan = z.object({
  span_id: SpanId,
  parent_span_id: SpanId.nullable(),
  op: z.string(),
  description: z.string(),
  status: z.enum(['ok', 'error']),
  is_segment: z.boolean().describe('The first span of the trace in a service, like a transaction.'),
  start_ms: z.number().describe('Milliseconds after `started_at`, by the clock of its sender.'),
  duration_ms: z.number(),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
})
export type TraceSpan = z.infer<typeof TraceSpan>

export const TraceEvent = z.object({
  event_id: z.string().describe('32 hex digits.'),
  issue_id: Id,
  short_id: z.string(),
  title: z.string(),
  level: z.string(),
  occurred_at: Timestamp,
  span_id: SpanId.nullable(),
})

export const KEPT_BECAUSE = ['error', 'slow', 'recent'] as const

export const Trace = z.object({
  trace_id: z.string().describe('32 hex digits.'),
  project_id: Id,
  kept_because: z
    .enum(KEPT_BECAUSE)
    .describe(
      'error: it holds an error. slow: among the slowest of its transaction and hour. recent: not decided yet.',
    ),
  name: z.string().nullable().describe('Of its first segment; null while none has arrived.'),
  started_at: Timestamp,
  duration_ms: z.number(),
  spans: z.array(TraceSpan).describe('By start; at most 1,000.'),
  spans_left_out: z.number().int().describe('Further spans that arrived with them: beyond 1,000, or invalid.'),
  errors: z.array(TraceEvent).describe('Stored error events of the trace, oldest first; at most 100.'),
  sampling: z
    .object({
      transactions: z.number().int().describe('Transactions and segments that arrived that day.'),
      considered: z.number().int().describe('Those whose spans were considered: at most 300 a minute.'),
      kept: z.number().int().describe('Traces kept of that day, at most 2,000.'),
    })
    .describe('Of the project on the UTC day on which the trace arrived.'),
})
export type Trace = z.infer<typeof Trace>

export const traceRoutes = routes({
  readTrace: {
    method: 'GET',
    path: '/api/projects/:projectId/traces/:traceId',
    tag: 'Telemetry',
    summary: 'A trace with its spans and errors',
    description:
      'Traces that hold an error, and the three slowest of each transaction and hour, are kept for 7 days: at most 2,000 per project and day. 404 for one that was not kept.',
    permission: 'issues.read',
    params: z.object({
      projectId: Id,
      traceId: z.string().regex(/^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/, {
        error: 'traceId must be 32 hex digits.',
      }),
    }),
    response: Trace,
    refusals: [404],
  },
})
