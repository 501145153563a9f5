import type { FactContext } from '../../platform/context/actor.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Category } from '../protocol/envelope.ts'

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

/** Outcomes of items; each item ends in exactly one, with a reason. */
export const OUTCOMES = [
  'accepted',
  'filtered',
  'rate_limited',
  'invalid',
  'duplicate',
  'discarded',
  'dropped',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** The category of an item and how many it counts for: 1, or the entries of a container. */
export type Counted = { readonly category: Category; readonly quantity: number }
