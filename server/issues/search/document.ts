import { isOwnKey, isUserKey, type Fact } from './facts.ts'
import { addWords, factTerm, isWord, keyTerm, termKey, overflowTerm } from './index-terms.ts'

/** The search document of an issue: a bounded set of index terms, collected from its events. Pure. */

/** Limits of one document. Terms beyond them cannot be found; for facts an overflow term records that. */
const MAX_WORD_CHARACTERS = 6_000
const MAX_KEYS = 150
const MAX_VALUES = 50
/** Higher limits for keys with many values that users search for. */
const MORE_VALUES: Readonly<Record<string, number>> = {
  // Each release counts twice: with and without its package.
  release: 400,
  'device.model': 100,
}

/**
 * Returns the index terms of one event: words of its texts, its facts, and words of the facts' values; of facts about its
 * user only their keys.
 */
export function buildIndexTerms(texts: readonly (string | null)[], facts: readonly Fact[]): string[] {
  const terms = new Set<string>()
  for (const text of texts) if (text !== null) addWords(terms, text)
  for (const [key, value] of facts) terms.add(isUserKey(key) ? keyTerm(key) : factTerm(key, value))
  // Last, because documents are limited and the terms above matter more.
  for (const [key, value] of facts) if (!isUserKey(key)) addRecurringWords(terms, value)
  return [...terms]
}

/** Adds the words of a text that are likely to recur. */
export function addRecurringWords(terms: Set<string>, text: string): void {
  const words = new Set<string>()
  addWords(words, text)
  for (const word of words) if (isRecurring(word)) terms.add(word)
}

/**
 * Returns the terms to add to a document: those it lacks and has room for, and an overflow term for each key without
 * room.
 */
export function termsToAdd(document: readonly string[], terms: readonly string[]): string[] {
  const known = new Set(document)
  const values = new Map<string, number>()
  let wordCharacters = 0
  for (const term of known) {
    const key = termKey(term)
    if (key !== null) values.set(key, (values.get(key) ?? 0) + 1)
    else if (isWord(term)) wordCharacters += term.length + 1
  }
  const added: string[] = []
  const add = (term: string): void => {
    if (known.has(term)) return
    known.add(term)
    added.push(term)
  }
  for (const term of terms) {
    if (known.has(term) || term === '') continue
    if (isWord(term)) {
      wordCharacters += term.length + 1
      if (wordCharacters <= MAX_WORD_CHARACTERS) add(term)
      continue
    }
    const key = termKey(term)
    if (key === null) {
      add(term)
      continue
    }
    const count = values.get(key) ?? 0
    // Built-in keys such as release do not count against the limit of keys.
    if (count === 0 && values.size >= MAX_KEYS && !isOwnKey(key)) continue
    if (count >= (Object.hasOwn(MORE_VALUES, key) ? (MORE_VALUES[key] ?? 0) : MAX_VALUES)) add(overflowTerm(key))
    else {
      values.set(key, count + 1)
      add(term)
      add(keyTerm(key))
    }
  }
  return added
}

/** Whether a term is likely to recur. Numbers and ids of single events would fill the document. */
export const isRecurring = (term: string): boolean => !isWord(term) || !/\p{N}.*\p{N}.*\p{N}|^[\da-f]{8,}$/u.test(term)
