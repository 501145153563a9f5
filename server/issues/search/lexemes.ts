/** What an issue is found by: words, and facts of its events as key and value, all in one list of lexemes. */

/** Between key and value of a fact, and before what is not for people. No word holds it. */
const SEPARATOR = '\u001F'
const MOST_WORD_CHARACTERS = 60
/** Of one text; further words are not found. */
const MOST_TEXT_CHARACTERS = 4_000
const MOST_KEY_CHARACTERS = 100
const MOST_VALUE_CHARACTERS = 200

const WORDS = /[\p{L}\p{N}]+/gu
const CAMEL = /(\p{Ll}|\p{N})(?=\p{Lu})/gu

const plain = (word: string): string => word.slice(0, MOST_WORD_CHARACTERS).toLowerCase()

/**
 * `CheckoutFragment.onPaymentConfirmed` → `checkoutfragment`, `checkout`, `fragment`, `onpaymentconfirmed`, `on`, …:
 * lower-case words of letters and digits, each camel-case name whole and in its parts.
 */
export function addWords(words: Set<string>, text: string): void {
  for (const name of text.slice(0, MOST_TEXT_CHARACTERS).match(WORDS) ?? []) {
    words.add(plain(name))
    if (name.length <= 3) continue
    const parts = name.replace(CAMEL, '$1 ').split(' ')
    if (parts.length > 1) for (const part of parts) words.add(plain(part))
  }
}

/** Words of a question, in lower case. */
export const wordsOf = (text: string): string[] => [...new Set((text.match(WORDS) ?? []).map(plain))]

/** Says that something is known under a key. */
export const keyLexeme = (key: string): string =>
  `${SEPARATOR}has${SEPARATOR}${key.slice(0, MOST_KEY_CHARACTERS).toLowerCase()}`

const keyPrefix = (key: string): string => `${key.slice(0, MOST_KEY_CHARACTERS).toLowerCase()}${SEPARATOR}`

/** A fact: `os.name␟android`. */
export const factLexeme = (key: string, value: string): string => keyPrefix(key) + valuePart(value)

/** The beginning of facts whose value begins so. */
export const factPrefix = (key: string, beginning: string): string => keyPrefix(key) + valuePart(beginning)

// NUL and lone halves of characters cannot be stored.
const valuePart = (value: string): string =>
  value.slice(0, MOST_VALUE_CHARACTERS).replaceAll('\u0000', '').toLowerCase().toWellFormed()

/** Says that an issue has more values of a key than are kept. */
export const overflowLexeme = (key: string): string => `${SEPARATOR}more${SEPARATOR}${key}`

/** Marks the documents of an organisation. */
export const orgLexeme = (orgId: string): string => `${SEPARATOR}org${SEPARATOR}${orgId}`

/** The key of a fact; null for words and marks. */
export function keyOf(lexeme: string): string | null {
  const end = lexeme.indexOf(SEPARATOR)
  return end > 0 ? lexeme.slice(0, end) : null
}

export const isWord = (lexeme: string): boolean => !lexeme.includes(SEPARATOR)
