import { isOwnKey, isUserKey, type Fact } from './facts.ts'

/** Index terms of an issue: words and facts of its events (key and value). Search terms: the words of a query. */

/** Separates key and value of a fact and starts internal terms. No word contains it. */
const SEPARATOR = '\u001F'
/** Starts a fact, so that a word with the same beginning does not match it. */
const FACT = '\u001D'
const MAX_WORD_CHARACTERS = 60
/** Words after this many characters of a text are not indexed. */
const MAX_TEXT_CHARACTERS = 4_000
const MAX_KEY_CHARACTERS = 100
const MAX_VALUE_CHARACTERS = 200

/** Letters and digits with their combining marks; each emoji and flag is a word. */
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\p{Extended_Pictographic}|\p{RI}{2}/gu
const ASCII_WORDS = /[A-Za-z0-9]+/g
/** Texts that take the fast path. */
const ASCII = /^[\u0000-\u007F]*$/
/** Where a part of a camel-case name ends: `onPay`, `IOException`. */
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
/** Scripts without spaces between words. */
const UNSPACED =
  /[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]]+/gv

/** Returns the text in lower case, with one spelling for equal characters: composed form, Turkish i, final sigma. */
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

/** `結帳失敗` → `結帳`, `帳失`, `失敗`, `敗`: pairs of characters, so that a prefix search finds every character. */
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
  const lower = head.toLowerCase()
  // By character: patterns take three times as long.
  for (let at = 0; at < head.length; at++) {
    if (kindAt(head, at) === OTHER) continue
    const start = at
    let isCamel = false
    for (let before = OTHER; at < head.length; at++) {
      const kind = kindAt(head, at)
      if (kind === OTHER) break
      isCamel ||= kind === UPPER && before !== OTHER
      before = kind
    }
    words.add(lower.slice(start, Math.min(at, start + MAX_WORD_CHARACTERS)))
    if (isCamel && at - start > 3) addParts(words, head, lower, start, at)
  }
}

/** Adds the parts of a camel-case name, if there are several. @param lower the text in lower case */
function addParts(words: Set<string>, text: string, lower: string, start: number, end: number): void {
  let partStart = start
  const add = (partEnd: number): unknown =>
    words.add(lower.slice(partStart, Math.min(partEnd, partStart + MAX_WORD_CHARACTERS)))
  for (let at = start + 1; at < end; at++) {
    if (kindAt(text, at) !== UPPER) continue
    if (kindAt(text, at - 1) === UPPER && !isLowerLetter(text, at + 1)) continue
    add(at)
    partStart = at
  }
  if (partStart > start) add(end)
}

const OTHER = 0
const LOWER = 1
const UPPER = 2
/** Kinds of ASCII characters. A digit counts as a lower-case letter. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9]/.test(String.fromCharCode(code)) ? LOWER : /[A-Z]/.test(String.fromCharCode(code)) ? UPPER : OTHER,
)

const kindAt = (text: string, at: number): number => KINDS[text.charCodeAt(at)] ?? OTHER

/** False behind the end of the text. */
function isLowerLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x61 && code <= 0x7a
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

/** A word that a query asks for: as a prefix, or with `whole` exactly. */
export type SearchTerm = { readonly word: string; readonly whole: boolean }

/**
 * Returns the search terms of a text, split as {@link addWords} splits indexed texts.
 * @param max stops soon after this many terms
 */
export function splitSearchTerms(text: string, whole: boolean, max = Number.MAX_SAFE_INTEGER): SearchTerm[] {
  const terms = new Map<string, SearchTerm>()
  const add = (term: SearchTerm): unknown => terms.set(`${term.word} ${term.whole}`, term)
  for (const name of namesIn(text)) {
    if (terms.size > max) break
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
      for (let at = 0; at + 1 < characters.length && terms.size <= max; at++)
        add({ word: `${characters[at]}${characters[at + 1]}`, whole: true })
    }
  }
  return [...terms.values()]
}

/** The term of issues that have a value for the key. */
export const keyTerm = (key: string): string => `${SEPARATOR}has${SEPARATOR}${keyPart(key)}`

/** Returns the key of {@link keyTerm}. */
export const keyOfTerm = (term: string): string => term.slice(term.lastIndexOf(SEPARATOR) + 1)

const keyPrefix = (key: string): string => `${FACT}${keyPart(key)}${SEPARATOR}`

/** A fact: `␝os.name␟android`. */
export const factTerm = (key: string, value: string): string => keyPrefix(key) + valuePart(value)

/** Returns the value of a fact. */
export const valueOfTerm = (term: string): string => term.slice(term.indexOf(SEPARATOR) + 1)

/** The common prefix of facts whose values start with the text. */
export const factPrefix = (key: string, beginning: string): string => keyPrefix(key) + valuePart(beginning)

// PostgreSQL cannot store NUL; the others are separators.
const UNSTORABLE = /[\u0000\u001D-\u001F]/g
const part = (text: string, maxCharacters: number): string =>
  folded(text.slice(0, maxCharacters).replaceAll(UNSTORABLE, ''))
const keyPart = (key: string): string => part(key, MAX_KEY_CHARACTERS)
/** A value as the index holds it: bounded, in lower case, with one spelling for equal characters. */
export const valuePart = (value: string): string => part(value, MAX_VALUE_CHARACTERS)

/** The term of issues with more values of the key than the document may hold. */
export const overflowTerm = (key: string): string => `${SEPARATOR}more${SEPARATOR}${key}`

/** The term that every document of the organisation contains. */
export const orgTerm = (orgId: string): string => `${SEPARATOR}org${SEPARATOR}${orgId}`

/** Returns the key of a fact, or null for words and internal terms. */
function termKey(term: string): string | null {
  return term.startsWith(FACT) ? term.slice(1, term.indexOf(SEPARATOR)) : null
}

const isWord = (term: string): boolean => !term.includes(SEPARATOR)

/** The search document of an issue: a bounded set of index terms, collected from its events. Pure. */

/** Limits of one document. Terms beyond them cannot be found; for facts an overflow term records that. */
const MAX_DOCUMENT_WORD_CHARACTERS = 6_000
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
      if (wordCharacters <= MAX_DOCUMENT_WORD_CHARACTERS) add(term)
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
