import type { RawItem } from './envelope.ts'
import { isList, isRecord } from './json.ts'
import { MAX_CONTAINER_NODES, GuardError, parseGuarded } from './json-guard.ts'

/** Items that hold many entries (docs/protocol.md §6, §10.2, §11.1): `{version?, items: […]}` with `item_count` in the header. */

/** Maximum entries of a container. */
export const MAX_ENTRIES = 1_000
/** Maximum announced entries, so that a false number does not fill a limit or the outcomes. */
const MAX_ANNOUNCED = 10_000
/** The shortest entry: `{}`. */
const MIN_ENTRY_BYTES = 2

export type Container =
  | { readonly entries: readonly unknown[]; readonly surplus: number; readonly fields: Record<string, unknown> }
  | { readonly invalid: string; readonly count: number }

/** The number of entries that an item's header announces (docs/protocol.md §4.3); 1 without a credible number. */
export function announcedCount({ headers, start, end }: Pick<RawItem, 'headers' | 'start' | 'end'>): number {
  const count = headers['item_count']
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) return 1
  return Math.max(1, Math.min(count, MAX_ANNOUNCED, Math.floor((end - start) / MIN_ENTRY_BYTES)))
}

/**
 * Parses a container; does not throw for any bytes that an SDK sends. Counts the real entries, and the announced number
 * only when they cannot be counted.
 */
export function readContainer(decoded: Buffer, item: RawItem): Container {
  const parsed = parseEntries(decoded, item.start, item.end)
  if ('invalid' in parsed) return { invalid: parsed.invalid, count: announcedCount(item) }
  const { value } = parsed
  if (!isRecord(value) || !isList(value['items'])) return { invalid: 'not_a_container', count: announcedCount(item) }
  const entries = value['items']
  return {
    entries: entries.slice(0, MAX_ENTRIES),
    surplus: Math.max(0, entries.length - MAX_ENTRIES),
    fields: value,
  }
}

/** Parses JSON with a limit of values; returns a reason when it is refused. */
export function parseEntries(
  decoded: Buffer,
  start: number,
  end: number,
  maxNodes = MAX_CONTAINER_NODES,
): { readonly value: unknown } | { readonly invalid: string } {
  try {
    return { value: parseGuarded(decoded, start, end, maxNodes).value }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    return { invalid: error.word }
  }
}

/**
 * Whether an entry is over its size limit. It must be serialised to find out, so this is skipped when the whole container
 * is smaller.
 */
export function isEntryTooLarge(entry: unknown, maxBytes: number, containerBytes: number): boolean {
  return containerBytes > maxBytes && Buffer.byteLength(JSON.stringify(entry) ?? '') > maxBytes
}
