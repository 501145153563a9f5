import type pg from 'pg'
import type { App } from '../context/app.ts'
import type { Disposition, Filing } from './item.ts'
import type { FactKind, FactOf } from './kinds.ts'
import { recordAttachments } from './record-attachments.ts'
import { recordClientLosses } from './record-client-losses.ts'
import { recordEvents } from './record-events.ts'
import { recordPerformanceItems } from './record-performance.ts'
import { recordFeedback } from './record-feedback.ts'
import { recordCheckInItems, recordLogItems, recordTraceMetricItems } from './record-telemetry.ts'
import { recordSessionItems } from './record-sessions.ts'

/** A fact and whose it is. */
export type Filed<F> = { readonly fact: F; readonly filing: Filing }

/**
 * Writes all facts of a kind out of one batch, on the transaction of digestion. Facts of one project come in the order
 * they were received; the same fact may come twice, in one batch or later.
 * @returns one disposition per fact, in their order; null when all were accepted
 */
export type Recorder<F> = (
  app: App,
  client: pg.ClientBase,
  now: Date,
  facts: readonly Filed<F>[],
) => Promise<readonly Disposition[] | null>

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
