/** What an issue is found by: words, and facts of its events as key and value, all in one list of terms. */

/** Between key and value of a fact, and before what is not for people. No word holds it. */
const SEPARATOR = '\u001F'
/** Before a fact: words that begin as its key does are not it. */
const FACT = '\u001D'
const MAX_WORD_CHARACTERS = 60
/** Of one text; further words are not found. */
const MAX_TEXT_CHARACTERS = 4_000
const MAX_KEY_CHARACTERS = 100
const MAX_VALUE_CHARACTERS = 200

/** A letter or digit with what is put on it; emoji and flags are words of their own. */
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\p{Extended_Pictographic}|\p{RI}{2}/gu
const ASCII_WORDS = /[A-Za-z0-9]+/g
/** Which goes the short way. */
const ASCII = /^[\u0000-\u007F]*$/
/** Where a part of a camel-case name ends: `onPay`, `IOException`. */
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const ASCII_CAMEL = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
/** Scripts that put no spaces between words. */
const UNSPACED =
  /[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]]+/gv

/** Without case, and one way of writing for what looks the same: composed, Turkish i, final sigma. Storable. */
const folded = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFC')
        .toLowerCase()
        .replaceAll(/i\u0307|ı/g, 'i')
        .replaceAll('ς', 'σ')
        .toWellFormed()

const plain = (word: string): string => folded(word.slice(0, MAX_WORD_CHARACTERS))

const namesIn = (text: string): readonly string[] =>
  (ASCII.test(text) ? text.match(ASCII_WORDS) : text.normalize('NFC').match(WORDS)) ?? []

/** `結帳失敗` → `結帳`, `帳失`, `失敗`, and the last character alone: each is found by what begins with it. */
function addPairs(words: Set<string>, run: string): void {
  const characters = Array.from(folded(run))
  for (const [index, character] of characters.entries()) words.add(character + (characters[index + 1] ?? ''))
}

/**
 * `CheckoutFragment.onPaymentConfirmed` → `checkoutfragment`, `checkout`, `fragment`, `onpaymentconfirmed`, `on`, …:
 * lower-case words of letters and digits, each camel-case name whole and in its parts; where a script has no spaces
 * every two characters.
 */
export function addWords(words: Set<string>, text: string): void {
  const head = text.slice(0, MAX_TEXT_CHARACTERS)
  if (!ASCII.test(head)) return addWordsOfAnyScript(words, head)
  for (const name of head.match(ASCII_WORDS) ?? []) {
    words.add(name.slice(0, MAX_WORD_CHARACTERS).toLowerCase())
    if (name.length <= 3 || !ASCII_CAMEL.test(name)) continue
    for (const part of name.split(ASCII_CAMEL)) words.add(part.slice(0, MAX_WORD_CHARACTERS).toLowerCase())
  }
}

function addWordsOfAnyScript(words: Set<string>, text: string): void {
  for (const name of namesIn(text)) {
    words.add(plain(name))
    const runs = ASCII.test(name) ? null : name.match(UNSPACED)
    if (runs !== null) {
      for (const run of runs) addPairs(words, run)
      for (const between of name.split(UNSPACED)) if (between !== '') words.add(plain(between))
    }
    if (name.length <= 3) continue
    const parts = name.split(CAMEL)
    if (parts.length > 1) for (const part of parts) words.add(plain(part))
  }
}

/** What a question looks for: a word, or with `whole` nothing but that word. */
export type SearchTerm = { readonly word: string; readonly whole: boolean }

/**
 * Words of a question, made as {@link addWords} makes those it is to find.
 * @param most stops when there are more
 */
export function searchTermsOf(text: string, whole: boolean, most = Number.MAX_SAFE_INTEGER): SearchTerm[] {
  const sought = new Map<string, SearchTerm>()
  const add = (one: SearchTerm): unknown => sought.set(`${one.word} ${one.whole}`, one)
  for (const name of namesIn(text)) {
    if (sought.size > most) break
    const runs = ASCII.test(name) ? [] : [...name.matchAll(UNSPACED)].map(([run]) => run)
    if (runs.length === 0) {
      add({ word: plain(name), whole })
      continue
    }
    for (const part of name.split(UNSPACED)) if (part !== '') add({ word: plain(part), whole })
    for (const run of runs) {
      const characters = Array.from(folded(run))
      const [only] = characters
      if (characters.length === 1 && only !== undefined) add({ word: only, whole: false })
      for (let at = 0; at + 1 < characters.length && sought.size <= most; at++)
        add({ word: `${characters[at]}${characters[at + 1]}`, whole: true })
    }
  }
  return [...sought.values()]
}

/** Says that something is known under a key. */
export const keyTerm = (key: string): string => `${SEPARATOR}has${SEPARATOR}${keyPart(key)}`

const keyPrefix = (key: string): string => `${FACT}${keyPart(key)}${SEPARATOR}`

/** A fact: `␝os.name␟android`. */
export const factTerm = (key: string, value: string): string => keyPrefix(key) + valuePart(value)

/** The beginning of facts whose value begins so. */
export const factPrefix = (key: string, beginning: string): string => keyPrefix(key) + valuePart(beginning)

// NUL cannot be stored, the others are signs of ours.
const UNSTORABLE = /[\u0000\u001D-\u001F]/g
const part = (text: string, most: number): string => folded(text.slice(0, most).replaceAll(UNSTORABLE, ''))
const keyPart = (key: string): string => part(key, MAX_KEY_CHARACTERS)
const valuePart = (value: string): string => part(value, MAX_VALUE_CHARACTERS)

/** Says that an issue has more values of a key than are kept. */
export const overflowTerm = (key: string): string => `${SEPARATOR}more${SEPARATOR}${key}`

/** Marks the documents of an organisation. */
export const orgTerm = (orgId: string): string => `${SEPARATOR}org${SEPARATOR}${orgId}`

/** The key of a fact; null for words and marks. */
export function keyOf(term: string): string | null {
  return term.startsWith(FACT) ? term.slice(1, term.indexOf(SEPARATOR)) : null
}

export const isWord = (term: string): boolean => !term.includes(SEPARATOR)
