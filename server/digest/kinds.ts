import type { Attachment } from '../attachments/attachment.ts'
import type { NewFeedback } from '../feedback/feedback.ts'
import type { Occurrence } from '../issue-recording/occurrence.ts'
import type { PerformanceFact } from '../performance/fact.ts'
import type { PrecursorReport } from '../precursors/precursor.ts'
import type { SessionFact } from '../app-health/record-sessions.ts'
import type { SeenDevice } from '../app-health/user-devices.queries.ts'
import type { CheckIn } from '../protocol/check-in.ts'
import type { ClientLoss } from '../protocol/client-report.ts'
import type { CostlyRule } from '../protocol/rule-budget.ts'
import type { LogEntry } from '../protocol/log.ts'
import type { TraceFact } from '../traces/trace-part.ts'
import type { TraceMetric } from '../protocol/trace-metric.ts'

/** What digestion records, by kind. Each has a recorder in recorders.ts. */
type FactKinds = {
  /** An error event for an issue. */
  event: Occurrence
  /** A file of an event, or a raw profile or replay. */
  attachment: Attachment
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
