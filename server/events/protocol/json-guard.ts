import { AppError } from '../../platform/kernel/errors.ts'
import { type JsonValue, isEscaped, stringEnd, hasLongNumbers, quoteLongNumbers } from './json.ts'

/** Maximum nesting and values of a JSON document (docs/protocol.md §6). */
export const MAX_DEPTH = 64
export const MAX_NODES = 100_000
/** Maximum values of a container: 1,000 entries, whose attributes have three values each. */
export const MAX_CONTAINER_NODES = 1_000_000

type JsonScan = {
  /** Why the text is refused; null when it may be parsed. */
  readonly problem: string | null
  /** The same as a reason of outcomes; only meaningful with a problem. */
  readonly word: GuardWord
  /** Key/value pairs in the text; more than in the parsed value when an object repeats a key. */
  readonly pairs: number
}

/** Reasons of outcomes for refused JSON. */
type GuardWord = 'too_deep' | 'too_many_values' | 'not_json'

/** Thrown by {@link parseGuarded}. */
export class GuardError extends AppError {
  readonly word: GuardWord

  constructor(word: GuardWord, message: string) {
    super('invalid', message)
    this.word = word
  }
}

const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`
const tooMany = (maxNodes: number): string => `more than ${maxNodes.toLocaleString('en')} values`

/** `JSON.parse` with its real type. */
export const parseJson: (text: string) => JsonValue = JSON.parse

const QUOTE = 0x22

/**
 * Counts depth and values of a JSON text without parsing it: less than a millisecond per MiB. It does not check that the
 * text is valid JSON; `JSON.parse` does.
 */
export function scanJson(text: string, maxNodes = MAX_NODES): JsonScan {
  let depth = 0
  let pairs = 0
  let nodes = 1
  // An opening bracket counts its first child in advance; a closing one directly after it subtracts that.
  let justOpened = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      justOpened = false
      i = stringEnd(text, i + 1)
    } else if (code === 0x2c) {
      if (++nodes > maxNodes) return { problem: tooMany(maxNodes), word: 'too_many_values', pairs }
    } else if (code === 0x3a) {
      pairs++
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH) return { problem: TOO_DEEP, word: 'too_deep', pairs }
      if (++nodes > maxNodes + 1) return { problem: tooMany(maxNodes), word: 'too_many_values', pairs }
      justOpened = true
    } else if (code === 0x7d || code === 0x5d) {
      depth--
      if (justOpened) nodes--
      justOpened = false
    } else if (code > 0x20) {
      justOpened = false
    }
  }
  return { problem: nodes > maxNodes ? tooMany(maxNodes) : null, word: 'too_many_values', pairs }
}

/** Why a JSON text is refused; null when it may be parsed. */
export const checkJson = (text: string): string | null => scanJson(text).problem

export type GuardedJson = {
  readonly value: JsonValue
  /** Number of keys left out because they name parts of JavaScript's object model. */
  readonly dropped: number
  /**
   * Whether `value` has all values of the text. False when keys were dropped or repeated: then the text has values that
   * `value` does not have.
   */
  readonly isExact: boolean
  /** Long numbers, which `value` has as text; see {@link writeJson}. */
  readonly longNumbers: ReadonlySet<string>
}

/**
 * Parses untrusted JSON. Depth and values are limited before the result is walked recursively; `__proto__`, `constructor`
 * and `prototype` never appear as keys. Numbers that a JavaScript number does not hold are text (json.ts).
 * @throws GuardError, an AppError `invalid` with the reason
 */
export function parseGuarded(bytes: Buffer, start = 0, end = bytes.length, maxNodes = MAX_NODES): GuardedJson {
  const text = bytes.toString('utf8', start, end)
  // A value takes at least two characters, so that a short text cannot have too many.
  const isShort = text.length <= 2 * Math.min(maxNodes, MAX_NODES)
  const scan = isShort ? null : scanned(text, maxNodes)
  let value: JsonValue
  try {
    value = parseJson(text)
  } catch {
    if (isShort) scanned(text, maxNodes)
    throw new GuardError('not_json', 'The payload is not valid JSON.')
  }
  let walk = cleaned(value)
  let longNumbers = NO_NUMBERS
  if (walk.overflows || hasLongNumbers(text)) {
    ;({ value, longNumbers } = parseLongNumbers(text))
    walk = cleaned(value)
  }
  const isExact = walk.dropped === 0 && walk.pairs === (scan?.pairs ?? pairsIn(text, walk.pairs, maxNodes))
  return { value, dropped: walk.dropped, isExact, longNumbers }
}

const NO_NUMBERS: ReadonlySet<string> = new Set()

/** @param text valid JSON; quotes around its numbers could make a wrong text valid */
function parseLongNumbers(text: string): Pick<GuardedJson, 'value' | 'longNumbers'> {
  const quoted = quoteLongNumbers(text)
  return { value: parseJson(quoted.text), longNumbers: quoted.numbers }
}

/** Parses JSON without the limits of {@link parseGuarded}, with long numbers as text too. @throws SyntaxError */
export function parseUnguarded(text: string): JsonValue {
  parseJson(text)
  return parseLongNumbers(text).value
}

/** Writes a parsed value, which may have been changed since, with its long numbers as they were sent. */
export const writeJson = (value: unknown, longNumbers: ReadonlySet<string>): string =>
  longNumbers.size === 0
    ? JSON.stringify(value)
    : JSON.stringify(value, (_key, one: unknown) =>
        typeof one === 'string' && longNumbers.has(one) ? JSON.rawJSON(one) : one,
      )

/** @throws GuardError */
function scanned(text: string, maxNodes: number): JsonScan {
  const scan = scanJson(text, maxNodes)
  const { problem, word } = scan
  if (problem === null) return scan
  throw new GuardError(word, `The JSON is ${word === 'too_deep' ? '' : 'too large: '}${problem}.`)
}

/**
 * The number of pairs in a valid text, of which its value has `found`. Nearly every text has as many colons behind an
 * unescaped quote as its value has pairs. Then no key is repeated, because each pair of the text has such a colon. Looking
 * at colons takes half the time of a scan.
 */
function pairsIn(text: string, found: number, maxNodes: number): number {
  let ends = 0
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    const before = text.charCodeAt(at - 1)
    if (before === QUOTE) ends += isEscaped(text, at - 1) ? 0 : 1
    // White space may stand before the colon of a pair.
    else if (before <= 0x20) return scanned(text, maxNodes).pairs
  }
  // More: a string begins with a colon, or a key is repeated.
  return ends === found ? found : scanned(text, maxNodes).pairs
}

type Walk = {
  pairs: number
  dropped: number
  /** Whether a number is infinite, which JSON cannot write: its exponent is too large. */
  overflows: boolean
}

/** Removes forbidden keys in place, at any depth, and counts the others. @throws GuardError when nested too deeply */
function cleaned(value: JsonValue): Walk {
  const walk = { pairs: 0, dropped: 0, overflows: false }
  clean(value, 1, walk)
  return walk
}

function clean(value: JsonValue, depth: number, walk: Walk): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw new GuardError('too_deep', `The JSON is ${TOO_DEEP}.`)
  if (Array.isArray(value)) {
    for (const element of value) {
      if (typeof element === 'object') clean(element, depth + 1, walk)
      else if (element === Infinity || element === -Infinity) walk.overflows = true
    }
    return
  }
  // Not `for … in`: objects of many shapes, as several SDKs send them, take three times as long with it.
  const keys = Object.keys(value)
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? ''
    const child = value[key]
    if (isForbidden(key)) {
      if (typeof child === 'object') clean(child, depth + 1, { pairs: 0, dropped: 0, overflows: false })
      // JSON.parse creates `__proto__` as an own property, so this deletes data, not the prototype.
      delete value[key]
      walk.dropped++
      continue
    }
    walk.pairs++
    if (typeof child === 'object') clean(child, depth + 1, walk)
    else if (child === Infinity || child === -Infinity) walk.overflows = true
  }
}

/** Compares lengths first, which excludes nearly every key. */
const isForbidden = (key: string): boolean =>
  (key.length === 9 && (key === '__proto__' || key === 'prototype')) || (key.length === 11 && key === 'constructor')

/**
 * Finds a string field of a JSON object without parsing the whole: keys of the first level only, the last one where
 * a key repeats (as `JSON.parse` has it).
 * @returns null when the field is absent, not a string, or the text is no object
 */
export function topLevelString(bytes: Buffer, field: string, start = 0, end = bytes.length): string | null {
  const text = bytes.toString('utf8', start, end)
  let found: string | null = null
  let depth = 0
  let expectKey = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const close = stringEnd(text, i + 1)
      if (depth === 1 && expectKey) {
        expectKey = false
        if (isKey(text, i + 1, close, field)) {
          const [value, last] = stringAfterColon(text, close + 1)
          found = value
          i = last
          continue
        }
      }
      i = close
    } else if (code === 0x7b || code === 0x5b) {
      depth++
      if (depth === 1) {
        if (code === 0x5b) return null
        expectKey = true
      }
    } else if (code === 0x7d || code === 0x5d) {
      depth--
    } else if (code === 0x2c && depth === 1) {
      expectKey = true
    }
  }
  return found
}

function isKey(text: string, start: number, end: number, field: string): boolean {
  if (end - start === field.length) return text.startsWith(field, start)
  // A longer text equals the name only with escapes, of at most six characters each.
  if (end - start < field.length || end - start > field.length * 6) return false
  const raw = text.slice(start, end)
  return raw.includes('\\') && parsedString(`"${raw}"`) === field
}

/** The string value behind a key, and the position of its last character (or of what stands before another value). */
function stringAfterColon(text: string, start: number): [string | null, number] {
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const close = stringEnd(text, i + 1)
      return [close - i > 4096 ? null : parsedString(text.slice(i, close + 1)), close]
    }
    if (code !== 0x3a && code > 0x20) return [null, i - 1]
  }
  return [null, text.length]
}

function parsedString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
