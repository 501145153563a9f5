import type { Preparer } from './item.ts'
import { prepareCheckIn } from './prepare-check-in.ts'
import { prepareClientReport } from './prepare-client-report.ts'
import { prepareLogs, prepareNel } from './prepare-logs.ts'
import { prepareOtlpLogs, prepareOtlpTraces } from './prepare-otlp.ts'
import { prepareTraceMetrics } from './prepare-trace-metrics.ts'
import { prepareAttachment, prepareRaw } from './prepare-attachment.ts'
import { prepareEventOrCrash, prepareFormData } from './prepare-crash.ts'
import { prepareSpan, prepareTransaction } from './prepare-performance.ts'
import { prepareSession, prepareSessions } from './prepare-session.ts'
import { prepareFeedback, prepareUserReport } from './prepare-feedback.ts'
import { prepareSecurity } from './prepare-security.ts'

/** The preparer of each item type. A type in neither table is unknown and discarded. */
export const PREPARERS: ReadonlyMap<string, Preparer> = new Map<string, Preparer>([
  ['event', prepareEventOrCrash],
  ['attachment', prepareAttachment],
  ['check_in', prepareCheckIn],
  ['log', prepareLogs],
  ['nel', prepareNel],
  ['otlp_logs', prepareOtlpLogs],
  ['otlp_traces', prepareOtlpTraces],
  ['trace_metric', prepareTraceMetrics],
  ['form_data', prepareFormData],
  ['raw_security', prepareSecurity],
  ['feedback', prepareFeedback],
  ['user_report', prepareUserReport],
  ['profile', prepareRaw],
  ['profile_chunk', prepareRaw],
  ['replay_event', prepareRaw],
  ['replay_recording', prepareRaw],
  ['replay_video', prepareRaw],
  ['session', prepareSession],
  ['sessions', prepareSessions],
  ['transaction', prepareTransaction],
  ['span', prepareSpan],
  ['client_report', prepareClientReport],
])

/** Known types that are not stored: too old, or not built yet (docs/protocol.md §7). */
export const UNSUPPORTED: ReadonlySet<string> = new Set([
  'otel_span',
  'user_report_v2',
  'unreal_report',
  'statsd',
  'metric_buckets',
  'metric_meta',
])
