import type { FactContext } from '../../platform/context/fact-context.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Outcome } from './outcome.ts'

/** The project and key of a fact, and when its request arrived. */
export type ItemContext = {
  readonly projectId: string
  readonly orgId: string
  readonly keyId: string
  readonly receivedAt: Date
}

/** The outcome of a fact; a recorder returns null when all of its facts are accepted. */
export type ItemOutcome = { readonly outcome: Outcome; readonly reason: string }
export const ACCEPTED: ItemOutcome = { outcome: 'accepted', reason: '' }
export const DUPLICATE: ItemOutcome = { outcome: 'duplicate', reason: '' }
/** A member discarded the issue the event belongs to. */
export const DISCARDED_ISSUE = { outcome: 'discarded', reason: 'discarded_issue' } as const satisfies ItemOutcome

export type FactInContext<F> = { readonly fact: F; readonly context: ItemContext }

/**
 * Writes all facts of one kind in a batch, in digestion's transaction. Facts of one project are in the order of
 * receipt; the same fact may occur twice, in one batch or in a later one.
 * @param isBehind more facts wait for digestion
 * @returns one outcome per fact, in the same order; null when all are accepted
 */
export type Recorder<F> = (
  tx: Tx,
  context: FactContext,
  facts: readonly FactInContext<F>[],
  isBehind: boolean,
) => Promise<readonly ItemOutcome[] | null>
