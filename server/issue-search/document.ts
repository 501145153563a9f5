import { isOwnKey, type Fact } from './facts.ts'
import { addWords, factLexeme, isWord, keyLexeme, keyOf, overflowLexeme } from './lexemes.ts'

/** The search document of an issue: a bounded set of lexemes that grows with what its events say. Pure. */

/** What is kept; the rest is not found, and a mark says so for facts. */
const MAX_WORD_CHARACTERS = 6_000
const MAX_KEYS = 150
const MAX_VALUES = 50
/** Of these an issue has more, and people ask for them. */
const MORE_VALUES: Readonly<Record<string, number>> = {
  // With and without their package.
  release: 400,
  'user.email': 100,
  'user.username': 100,
  'device.model': 100,
}

/** Lexemes of one event: words of its texts, facts, and the words in these. */
export function lexemesOf(texts: readonly (string | null)[], facts: readonly Fact[]): string[] {
  const lexemes = new Set<string>()
  for (const text of texts) if (text !== null) addWords(lexemes, text)
  for (const [key, value] of facts) lexemes.add(factLexeme(key, value))
  // Last, where there is room: what is asked for by name matters more.
  for (const [, value] of facts) addLasting(lexemes, value)
  return [...lexemes]
}

/** Adds the words of a text that are worth keeping for long. */
export function addLasting(lexemes: Set<string>, text: string): void {
  const words = new Set<string>()
  addWords(words, text)
  for (const word of words) if (isLasting(word)) lexemes.add(word)
}

/** What has room of new lexemes in a document, with marks for what has none; empty when nothing changes. */
export function growth(document: readonly string[], lexemes: readonly string[]): string[] {
  const known = new Set(document)
  const values = new Map<string, number>()
  let wordCharacters = 0
  for (const lexeme of known) {
    const key = keyOf(lexeme)
    if (key !== null) values.set(key, (values.get(key) ?? 0) + 1)
    else if (isWord(lexeme)) wordCharacters += lexeme.length + 1
  }
  const added: string[] = []
  const add = (lexeme: string): void => {
    if (known.has(lexeme)) return
    known.add(lexeme)
    added.push(lexeme)
  }
  for (const lexeme of lexemes) {
    if (known.has(lexeme) || lexeme === '') continue
    const key = keyOf(lexeme)
    if (key === null) {
      wordCharacters += lexeme.length + 1
      if (wordCharacters <= MAX_WORD_CHARACTERS) add(lexeme)
      continue
    }
    const count = values.get(key) ?? 0
    // However many tags there are, release and device have their place.
    if (count === 0 && values.size >= MAX_KEYS && !isOwnKey(key)) continue
    if (count >= (Object.hasOwn(MORE_VALUES, key) ? (MORE_VALUES[key] ?? 0) : MAX_VALUES)) add(overflowLexeme(key))
    else {
      values.set(key, count + 1)
      add(lexeme)
      add(keyLexeme(key))
    }
  }
  return added
}

/** A word of a later event worth keeping: numbers and ids of one event would fill the document. */
export const isLasting = (lexeme: string): boolean =>
  !isWord(lexeme) || !/\p{N}.*\p{N}.*\p{N}|^[\da-f]{8,}$/u.test(lexeme)
