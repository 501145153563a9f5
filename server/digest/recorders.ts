import { attachmentRecorder } from '../attachments/record-attachments.ts'
import { recordFeedback } from '../feedback/record-feedback.ts'
import { recordItemsOfIssues } from '../issue-rows/record-items.ts'
import { recordEvents } from '../issue-recording/record-events.ts'
import { recordJourneyErrors } from '../journeys/record-journey-errors.ts'
import { performanceRecorder } from '../performance/record-performance.ts'
import { precursorRecorder } from '../precursors/record-precursors.ts'
import { sessionRecorder } from '../app-health/record-sessions.ts'
import { recordUserDevices } from '../app-health/user-devices.ts'
import { recordClientLosses } from '../outcomes/record-client-losses.ts'
import { recordCostlyRules } from '../outcomes/record-costly-rules.ts'
import type { Counting } from '../issue-recording/journal.ts'
import type { Recorder } from '../items/recorder.ts'
import { checkInRecorder } from '../monitors/record-check-ins.ts'
import type { Pace } from '../telemetry/entries.queries.ts'
import { logRecorder } from '../telemetry/record-logs.ts'
import { traceMetricRecorder } from '../telemetry/record-trace-metrics.ts'
import { recordTraceErrors, traceRecorder } from '../traces/record-traces.ts'
import type { FactKind, FactOf } from './kinds.ts'

/**
 * The recorder of each kind. Digestion runs them in this order, so that two digesters cannot deadlock.
 * @param counting how events are counted; default: at once
 * @param pace called between parts of many entries
 */
export const recordersWith = (
  counting: Counting | undefined,
  pace: Pace | null = null,
): { readonly [K in FactKind]: Recorder<FactOf<K>> } => ({
  event: async (tx, context, facts, isBehind) => {
    const outcomes = await recordEvents(tx, context, facts, counting, isBehind)
    await recordJourneyErrors(tx, facts, outcomes)
    await recordTraceErrors(tx, context.at, facts, outcomes)
    return outcomes
  },
  attachment: attachmentRecorder((tx, context, files) =>
    recordItemsOfIssues(tx, context, 'issue.attachment_received', files),
  ),
  feedback: recordFeedback,
  check_in: checkInRecorder,
  logs: logRecorder(pace),
  trace_metrics: traceMetricRecorder(pace),
  // Sessions of the same batch may need it.
  user_device: recordUserDevices,
  session: sessionRecorder,
  performance: performanceRecorder,
  precursors: precursorRecorder,
  trace: traceRecorder,
  client_report: recordClientLosses,
  costly_rules: recordCostlyRules,
})
