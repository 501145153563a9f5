import type { DroppedItem } from '../spool/entry.ts'

export type DropReason = DroppedItem['reason']

/** Outcomes of items that intake drops, whether or not the rest of their envelope is stored. */
export const DROP_OUTCOMES: Readonly<
  Record<DropReason, { readonly outcome: 'invalid' | 'rate_limited'; readonly reason: string }>
> = {
  too_large: { outcome: 'invalid', reason: 'too_large' },
  /** Over the limit of the key. */
  rate_limited: { outcome: 'rate_limited', reason: 'key' },
  /** Over the limit of the key, and flood sampling found that its kind is not new. */
  storm: { outcome: 'rate_limited', reason: 'storm' },
  /** Over the quota of the organisation. */
  quota: { outcome: 'rate_limited', reason: 'organization' },
}

export { announcedCount as claimedQuantity } from '../../events/protocol/container.ts'
