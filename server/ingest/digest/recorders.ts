import { attachmentRecorder, refusedFileRecorder } from '../../events/attachments/record-attachments.ts'
import { recordFeedback } from '../../issues/feedback/record-feedback.ts'
import { recordItemsOfIssues } from '../../issues/rows/view-issue.ts'
import { recordEvents } from '../../issues/recording/record-events.ts'
import { recordJourneyErrors } from '../../telemetry/journeys/record-journey-errors.ts'
import { performanceRecorder } from '../../telemetry/performance/record-performance.ts'
import { precursorRecorder } from '../../telemetry/precursors/record-precursors.ts'
import { sessionRecorder, recordUserDevices } from '../../telemetry/app-health/record-sessions.ts'
import { recordClientLosses } from '../outcomes/record-client-losses.ts'
import { recordCostlyRules } from '../outcomes/record-costly-rules.ts'
import type { Counting } from '../../issues/recording/journal.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import { checkInRecorder } from '../../telemetry/monitors/record-check-ins.ts'
import type { Pace } from '../../telemetry/logs/entries.queries.ts'
import { logRecorder } from '../../telemetry/logs/record-logs.ts'
import { traceMetricRecorder } from '../../telemetry/logs/record-trace-metrics.ts'
import { recordTraceErrors, traceRecorder } from '../../telemetry/traces/record-traces.ts'
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
  refused_file: refusedFileRecorder((tx, context, files) =>
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
