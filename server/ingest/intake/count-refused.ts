import { AppError } from '../../platform/kernel/errors.ts'
import { parseEnvelopeHeader, type RawItem, itemCategory, type Category } from '../../events/protocol/envelope.ts'
import { buildRefusal, type RejectedOutcomes } from '../outcomes/rejected-outcomes.ts'
import type { Counted, Outcome } from '../../events/items/recorder.ts'
import { mayBeStored } from '../spool/write.ts'
import { claimedQuantity, DROP_OUTCOMES, type DropReason } from '../outcomes/dropped-items.ts'

/**
 * Outcomes of rejected requests and items. A request whose items are not known counts as one item of category `default`;
 * otherwise each item counts (docs/decisions/admission-and-outcomes.md).
 */

type Key = { readonly id: string; readonly projectId: string }
type Deps = { readonly rejected: RejectedOutcomes }
type Ended = { readonly outcome: Outcome; readonly reason: string }

export const SECOND_EVENT: Ended = { outcome: 'discarded', reason: 'second_event' }

export const countItem = (item: RawItem): Counted => ({
  category: itemCategory(item.type),
  quantity: claimedQuantity(item),
})

/** Outcomes of the items of an envelope that is not stored. @param others the outcome of items not in `dropped` */
export function envelopeOutcomes(
  items: readonly RawItem[],
  dropped: readonly { readonly index: number; readonly reason: DropReason }[],
  others: Ended,
): (Counted & Ended)[] {
  const reasons = new Map(dropped.map(({ index, reason }) => [index, reason]))
  return items.map((item, index) => {
    const reason = reasons.get(index)
    return { ...countItem(item), ...(reason === undefined ? others : DROP_OUTCOMES[reason]) }
  })
}

export function countItems({ rejected }: Deps, key: Key, items: readonly (Counted & Ended)[]): void {
  for (const { category, outcome, reason, quantity } of items)
    rejected.add(buildRefusal(key, category, outcome, reason, quantity))
}

/** Counts a request whose items are not known. */
export function countRequest({ rejected }: Deps, key: Key, outcome: Outcome, reason: string): void {
  const category: Category = 'default'
  rejected.add(buildRefusal(key, category, outcome, reason))
}

/** Counts a request whose body was not received or decoded because it is too large or the service is busy. */
export function countUnreceived(deps: Deps, key: Key, error: unknown): void {
  if (!(error instanceof AppError)) return
  if (error.code === 'too_large') countRequest(deps, key, 'invalid', 'too_large')
  else if (error.code === 'rate_limited') countRequest(deps, key, 'rate_limited', 'busy')
}

/** Counts a body that decodes to too many bytes. */
export function countedIfTooLarge<T>(deps: Deps, key: Key, read: () => T): T {
  try {
    return read()
  } catch (error) {
    countUnreceived(deps, key, error)
    throw error
  }
}

/** Counts an envelope whose header is valid and whose rest is not. */
export function countedIfUnreadable<T>(deps: Deps, key: Key, decoded: Buffer, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && hasHeader(decoded))
      countRequest(deps, key, 'invalid', error.code === 'too_large' ? 'too_large' : 'envelope')
    throw error
  }
}

function hasHeader(decoded: Buffer): boolean {
  try {
    parseEnvelopeHeader(decoded)
    return true
  } catch {
    return false
  }
}

/**
 * Counts the items of a request that the spool rejected. Those that may be stored nevertheless are counted by
 * digestion.
 */
export async function countedIfRefused(
  deps: Deps,
  key: Key,
  storing: Promise<void>,
  items: () => readonly Counted[],
): Promise<void> {
  try {
    await storing
  } catch (error) {
    if (error instanceof AppError && !mayBeStored(error)) {
      const ended: Ended =
        error.code === 'rate_limited'
          ? { outcome: 'rate_limited', reason: 'busy' }
          : { outcome: 'dropped', reason: 'database' }
      countItems(
        deps,
        key,
        items().map((item) => ({ ...item, ...ended })),
      )
    }
    throw error
  }
}
