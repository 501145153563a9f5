import type { RawItem } from './envelope.ts'
import { isList, isRecord } from './json.ts'
import { MAX_CONTAINER_NODES, GuardError, parseGuarded } from './json-guard.ts'

/** Items that hold many entries (docs/protocol.md §6, §10.2, §11.1): `{version?, items: […]}` with `item_count` in the header. */

/** Entries kept of one container. */
export const MAX_ENTRIES = 1_000
/** More entries than that nobody puts into one container; a claim must not fill a limit or a ledger. */
const MAX_ANNOUNCED = 10_000
/** The shortest an entry can be: `{}`. */
const MIN_ENTRY_BYTES = 2

export type Container =
  | { readonly entries: readonly unknown[]; readonly surplus: number; readonly fields: Record<string, unknown> }
  | { readonly invalid: string; readonly count: number }

/** How many things an item holds, as its header claims (docs/protocol.md §4.3); 1 where it claims nothing that can be. */
export function announcedCount({ headers, start, end }: Pick<RawItem, 'headers' | 'start' | 'end'>): number {
  const count = headers['item_count']
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) return 1
  return Math.max(1, Math.min(count, MAX_ANNOUNCED, Math.floor((end - start) / MIN_ENTRY_BYTES)))
}

/**
 * Parses a container; never throws for what an SDK could send. The real number of entries counts, the announced one
 * only where none can be counted.
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

/** JSON of up to a million values, or so many; a word of why not, otherwise. */
export function parseEntries(
  decoded: Buffer,
  start: number,
  end: number,
  mostNodes = MAX_CONTAINER_NODES,
): { readonly value: unknown } | { readonly invalid: string } {
  try {
    return { value: parseGuarded(decoded, start, end, mostNodes).value }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    return { invalid: error.word }
  }
}

/**
 * Whether an entry alone is over its limit. Looks only where the container as a whole could hold such an entry: finding
 * out means writing the entry again.
 */
export function isEntryTooLarge(entry: unknown, mostBytes: number, containerBytes: number): boolean {
  return containerBytes > mostBytes && Buffer.byteLength(JSON.stringify(entry) ?? '') > mostBytes
}
