import type { EnvelopeHeader, RawItem } from '../../events/protocol/envelope.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { Counted, Outcome } from '../../events/items/recorder.ts'
import type { ProjectFacts } from './project-facts.ts'
import type { Turn } from './fair-turns.ts'
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

/** One item of an envelope, and the context of its request. */
export type ItemInput = {
  readonly entry: SpoolEntry
  readonly project: ProjectFacts
  readonly header: EnvelopeHeader
  /** All items of the envelope: an attachment may depend on its event. */
  readonly items: readonly RawItem[]
  readonly item: RawItem
  /** Long work pauses, so that other projects are prepared meanwhile. */
  readonly turn: Turn
  /**
   * The whole decoded envelope; the payload is `decoded.subarray(item.start, item.end)`. Copy bytes that outlive the
   * call.
   */
  readonly decoded: Buffer
  readonly receivedAt: Date
  /** The client's clock when it sent, to correct drift (docs/protocol.md §15.1); null when not given. */
  readonly sentAt: Date | null
  /** The envelope's event id, 32 hex digits; null when it has no event. */
  readonly eventId: string | null
  /** The received body when it may be stored unchanged, because it holds only this item and no secrets beside it. */
  readonly original: Pick<SpoolEntry, 'body' | 'encoding'> | null
}

/** The outcome of (a part of) an item that is not stored. */
export type UnrecordedPart = Counted & { readonly outcome: Exclude<Outcome, 'accepted'>; readonly reason: string }

/** A fact for the recorder of its kind (ingest/digest/digest.ts). */
export type PreparedFact = { [K in FactKind]: Counted & { readonly kind: K; readonly fact: FactOf<K> } }[FactKind]

/**
 * The result of (a part of) an item. The quantities of all parts add up to the item's quantity; a part of quantity 0 is
 * counted with another one.
 */
export type PreparedItem = PreparedFact | UnrecordedPart

/** Prepares one item type: bytes → facts. Pure; does not throw for any bytes that an SDK sends. */
export type Preparer = (input: ItemInput) => readonly PreparedItem[] | Promise<readonly PreparedItem[]>

/** Facts that digestion records, by kind. Each has a recorder in digest.ts. */
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
