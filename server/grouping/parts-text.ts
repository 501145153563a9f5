import type { GroupingPart } from './grouping.api.ts'
import { storable } from '../protocol/strings.ts'

/**
 * Parts of a fingerprint for a `jsonb` column. Versions of grouping cut long texts where they please, and are frozen: half
 * an emoji at the end of one must not keep an event from being stored.
 */
export const partsText = (parts: readonly GroupingPart[]): string =>
  JSON.stringify(parts, (_key, value: unknown) => (typeof value === 'string' ? storable(value) : value))
