import type { Category } from '../protocol/categories.ts'
import type { EntryContext } from '../protocol/log.ts'
import { scrubEvent } from '../protocol/scrub.ts'
import type { ItemInput, UnrecordedPart } from './item.ts'

export type Entries<T> = {
  readonly category: Category
  /** As sent, no more than may be kept. */
  readonly entries: readonly unknown[]
  /** Further ones, not looked at. */
  readonly surplus: number
  /** An entry without its secrets: gives the scrubber what may hold some. May change the entry. */
  readonly clean: (entry: unknown, scrub: (parts: Record<string, unknown>) => void) => unknown
  /** One entry, scrubbed; a reason word where it cannot be kept. */
  readonly read: (entry: unknown, context: EntryContext) => T | { readonly invalid: string }
}

export type ReadEntries<T> = { readonly kept: readonly T[]; readonly invalid: readonly UnrecordedPart[] }

/**
 * Texts of all entries together that are tried as JSON, and at least of each: those that are none cost an exception.
 * Measured with 1,000 entries full of them: 3.2 s when each may try 500, 1.2 s like this, most of it parsing.
 */
const MAX_JSON_TEXTS = 5_000
const MIN_JSON_TEXTS = 5

/** Entries of a container: scrubbed, read one by one; a wrong one is left out with its reason, the others are kept. */
export function readEntries<T extends object>(
  { item, project, receivedAt, sentAt }: ItemInput,
  { category, entries, surplus, clean, read }: Entries<T>,
): ReadEntries<T> {
  const context: EntryContext = {
    receivedAt,
    sentAt,
    defaultEnvironment: project.defaultEnvironment,
    containerBytes: item.end - item.start,
  }
  const mostJsonTexts = Math.max(MIN_JSON_TEXTS, Math.floor(MAX_JSON_TEXTS / entries.length))
  const scrub = (parts: Record<string, unknown>): void => void scrubEvent(parts, project.scrubbing, mostJsonTexts)
  const kept: T[] = []
  const reasons = new Map<string, number>()
  for (const entry of entries) {
    // One by one: a project's rules name paths inside an entry.
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
