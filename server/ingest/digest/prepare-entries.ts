import type { Category } from '../../events/protocol/envelope.ts'
import type { EntryContext } from '../../events/protocol/log.ts'
import { scrubEvent } from '../../events/protocol/scrub.ts'
import type { ItemInput, UnrecordedPart } from './item.ts'

export type Entries<T> = {
  readonly category: Category
  /** As sent, up to the maximum number. */
  readonly entries: readonly unknown[]
  /** Number of entries above the maximum. */
  readonly surplus: number
  /** Passes the parts of an entry that may hold secrets to the scrubber. @returns the entry, which it may change */
  readonly clean: (entry: unknown, scrub: (parts: Record<string, unknown>) => void) => unknown
  /** Reads a scrubbed entry; returns a reason when it is invalid. */
  readonly read: (entry: unknown, context: EntryContext) => T | { readonly invalid: string }
}

export type ReadEntries<T> = { readonly kept: readonly T[]; readonly invalid: readonly UnrecordedPart[] }

/**
 * Maximum texts of all entries together that are parsed as JSON, and the minimum for each entry. A text that is no JSON
 * costs an exception: 1,000 entries full of them take 3.2 s with 500 for each, and 1.2 s with these limits.
 */
const MAX_JSON_TEXTS = 5_000
const MIN_JSON_TEXTS = 5

/** Scrubs and reads the entries of a container. An invalid entry is left out with its reason. */
export async function readEntries<T extends object>(
  { item, project, turn, receivedAt, sentAt }: ItemInput,
  { category, entries, surplus, clean, read }: Entries<T>,
): Promise<ReadEntries<T>> {
  const context: EntryContext = {
    receivedAt,
    sentAt,
    defaultEnvironment: project.defaultEnvironment,
    containerBytes: item.end - item.start,
  }
  const maxJsonTexts = Math.max(MIN_JSON_TEXTS, Math.floor(MAX_JSON_TEXTS / entries.length))
  const scrub = (parts: Record<string, unknown>): void => void scrubEvent(parts, project.scrubbing, maxJsonTexts)
  const kept: T[] = []
  const reasons = new Map<string, number>()
  for (const entry of entries) {
    const wait = turn.pause()
    if (wait !== null) await wait
    // One by one, because a project's rules name paths inside an entry.
    const one = read(clean(entry, scrub), context)
    if ('invalid' in one) reasons.set(one.invalid, (reasons.get(one.invalid) ?? 0) + 1)
    else kept.push(one)
  }
  if (surplus > 0) reasons.set('too_many', surplus)
  return {
    kept,
    invalid: [...reasons].map(([reason, quantity]) => ({ category, quantity, outcome: 'invalid', reason })),
  }
}
