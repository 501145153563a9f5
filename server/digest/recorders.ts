import type { Recorder } from '../outcomes/recorder.ts'
import type { FactKind, FactOf } from './kinds.ts'
import { recordAttachments } from '../attachments/record-attachments.ts'
import { recordClientLosses } from '../outcomes/record-client-losses.ts'
import { recordEvents } from '../issue-recording/record-events.ts'
import { recordPerformanceItems } from './record-performance.ts'
import { recordFeedback } from '../feedback/record-feedback.ts'
import { recordCheckInItems, recordLogItems, recordTraceMetricItems } from '../telemetry/record-telemetry.ts'
import { recordSessionItems } from './record-sessions.ts'

/** In this order within a transaction, everywhere: two digesters must lock tables in the same order. */
export const RECORDERS: { readonly [K in FactKind]: Recorder<FactOf<K>> } = {
  event: recordEvents,
  attachment: recordAttachments,
  feedback: recordFeedback,
  check_in: recordCheckInItems,
  logs: recordLogItems,
  trace_metrics: recordTraceMetricItems,
  session: recordSessionItems,
  performance: recordPerformanceItems,
  client_report: recordClientLosses,
}
