import type { Attachment, RefusedFile } from '../../events/attachments/attachment.ts'
import type { NewFeedback } from '../../issues/feedback/feedback.ts'
import type { Occurrence } from '../../issues/recording/occurrence.ts'
import type { PerformanceFact } from '../../telemetry/performance/fact.ts'
import type { PrecursorReport } from '../../telemetry/precursors/precursor.ts'
import type { SessionFact } from '../../telemetry/app-health/record-sessions.ts'
import type { SeenDevice } from '../../telemetry/app-health/sessions.queries.ts'
import type { CheckIn } from '../../events/protocol/check-in.ts'
import type { ClientLoss } from '../../events/protocol/client-report.ts'
import type { CostlyRule } from '../../events/protocol/rule-budget.ts'
import type { LogEntry } from '../../events/protocol/log.ts'
import type { TraceFact } from '../../telemetry/traces/trace-part.ts'
import type { TraceMetric } from '../../events/protocol/trace-metric.ts'

/** Facts that digestion records, by kind. Each has a recorder in recorders.ts. */
type FactKinds = {
  /** An error event for an issue. */
  event: Occurrence
  /** A file of an event, or a raw profile or replay. */
  attachment: Attachment
  /** A file that was refused; its event names it. */
  refused_file: RefusedFile
  /** A message from a user of the app. */
  feedback: NewFeedback
  check_in: CheckIn
  /** Log entries of one item. */
  logs: readonly LogEntry[]
  /** Measurements of one item. */
  trace_metrics: readonly TraceMetric[]
  /** The device of a user, as a transaction names it. */
  user_device: SeenDevice
  /** An update of a session, or counts of many. */
  session: SessionFact
  /** A measured transaction, segment or other span; or spans that are only counted. */
  performance: PerformanceFact
  /** Signs that an app may soon crash, of one event or transaction. */
  precursors: PrecursorReport
  /** Spans of a trace; counted with their transaction or spans. */
  trace: TraceFact
  /** Items that an SDK dropped before sending. */
  client_report: readonly ClientLoss[]
  /** A note on the request: rules that replaced texts of it because searching them costs too much. */
  costly_rules: readonly CostlyRule[]
}

export type FactKind = keyof FactKinds
export type FactOf<K extends FactKind> = FactKinds[K]
