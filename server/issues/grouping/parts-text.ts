import type { GroupingPart } from './grouping.api.ts'
import { storable } from '../../events/protocol/strings.ts'

/**
 * Parts of a fingerprint for a `jsonb` column. Grouping versions may cut a text within a surrogate pair and are frozen,
 * so half a pair is replaced here: PostgreSQL would refuse it.
 */
export const partsText = (parts: readonly GroupingPart[]): string =>
  JSON.stringify(parts, (_key, value: unknown) => (typeof value === 'string' ? storable(value) : value))
