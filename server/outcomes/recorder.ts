import type { Tx } from '../storage/database.ts'
import type { App } from '../context/app.ts'
import type { Outcome } from './outcomes.ts'

/** Whose a fact is and when it came. */
export type Filing = {
  readonly projectId: string
  readonly orgId: string
  readonly keyId: string
  readonly receivedAt: Date
}

/** What became of a fact: all of it accepted, unless said otherwise. */
export type Disposition = { readonly outcome: Outcome; readonly reason: string }
export const ACCEPTED: Disposition = { outcome: 'accepted', reason: '' }
export const DUPLICATE: Disposition = { outcome: 'duplicate', reason: '' }
/** Somebody said that nobody wants to hear of its problem again. */
export const DISCARDED_ISSUE = { outcome: 'discarded', reason: 'discarded_issue' } as const satisfies Disposition

/** A fact and whose it is. */
export type Filed<F> = { readonly fact: F; readonly filing: Filing }

/**
 * Writes all facts of a kind out of one batch, on the transaction of digestion. Facts of one project come in the order
 * they were received; the same fact may come twice, in one batch or later.
 * @returns one disposition per fact, in their order; null when all were accepted
 */
export type Recorder<F> = (
  app: App,
  tx: Tx,
  now: Date,
  facts: readonly Filed<F>[],
) => Promise<readonly Disposition[] | null>
