import type { Category } from '../protocol/categories.ts'

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
