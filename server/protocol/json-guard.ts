import { invalid } from '../kernel/errors.ts'
import type { JsonValue } from './json.ts'

/** Deepest nesting and most values one JSON document may have (security.md 4.17). */
export const MOST_DEPTH = 64
export const MOST_NODES = 100_000

export type JsonScan = {
  /** Why the text must not be parsed; null when it may be. */
  readonly problem: string | null
  /** Key/value pairs in the text; more than the parsed value has where some object repeats a key. */
  readonly pairs: number
}

const TOO_MANY = `more than ${MOST_NODES.toLocaleString('en')} values`

/** `JSON.parse` with the type of what it can give. */
export const parseJson: (text: string) => JsonValue = JSON.parse

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** From this many bytes on looking for the closing quote by memchr beats looking byte by byte. */
const LONG_STRING = 24

/**
 * Counts depth and values of a JSON text without building anything: about a millisecond per MiB.
 * Says nothing about the text being valid JSON; `JSON.parse` does.
 */
export function scanJson(bytes: Uint8Array, start = 0, end = bytes.length): JsonScan {
  let depth = 0
  let pairs = 0
  let nodes = 1
  // An opening bracket counts its first child in advance; a closing one right behind it takes that back.
  let justOpened = false
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) {
      justOpened = false
      i = stringEnd(bytes, i + 1, end)
    } else if (byte === 0x2c) {
      if (++nodes > MOST_NODES) return { problem: TOO_MANY, pairs }
    } else if (byte === 0x3a) {
      pairs++
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > MOST_DEPTH) return { problem: `nested deeper than ${MOST_DEPTH} levels`, pairs }
      if (++nodes > MOST_NODES + 1) return { problem: TOO_MANY, pairs }
      justOpened = true
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
      if (justOpened) nodes--
      justOpened = false
    } else if (byte > 0x20) {
      justOpened = false
    }
  }
  return { problem: nodes > MOST_NODES ? TOO_MANY : null, pairs }
}

/** Position of the quote that ends the string whose first byte is at `i`, or `end` when there is none. */
export function stringEnd(bytes: Uint8Array, i: number, end: number): number {
  const near = Math.min(end, i + LONG_STRING)
  for (; i < near; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) return i
    if (byte === BACKSLASH) i++
  }
  while (i < end) {
    const quote = bytes.indexOf(QUOTE, i)
    if (quote === -1 || quote >= end) return end
    let slashes = 0
    while (quote - slashes - 1 >= i && bytes[quote - slashes - 1] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote
    i = quote + 1
  }
  return end
}

/** The reason why a JSON text must not be parsed, or null. */
export const checkJson = (bytes: Uint8Array, start = 0, end = bytes.length): string | null =>
  scanJson(bytes, start, end).problem

export type GuardedJson = {
  readonly value: JsonValue
  /** Keys left out because they name parts of JavaScript's object model. */
  readonly dropped: number
  /**
   * Whether `value` is all the text says. False when keys were dropped or repeated: the text then holds values that
   * nobody who looks at `value` ever sees.
   */
  readonly isExact: boolean
}

/**
 * Parses JSON that somebody else wrote. Depth and values are bounded before parsing, so walking the result
 * recursively is safe; `__proto__`, `constructor` and `prototype` never appear as keys.
 * @throws AppError `invalid` naming the reason
 */
export function parseGuarded(bytes: Buffer, start = 0, end = bytes.length): GuardedJson {
  const { problem, pairs } = scanJson(bytes, start, end)
  if (problem !== null) throw invalid(`The JSON is ${problem.startsWith('more') ? `too large: ${problem}` : problem}.`)
  let value: JsonValue
  try {
    value = parseJson(bytes.toString('utf8', start, end))
  } catch {
    throw invalid('The payload is not valid JSON.')
  }
  const walk = { pairs: 0, dropped: 0 }
  clean(value, walk)
  return { value, dropped: walk.dropped, isExact: walk.dropped === 0 && walk.pairs === pairs }
}

/** Removes forbidden keys in place, at any depth, and counts what stays. Only for values whose depth was checked. */
function clean(value: JsonValue, walk: { pairs: number; dropped: number }): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object') clean(element, walk)
    return
  }
  for (const key of Object.keys(value)) {
    if (isForbidden(key)) {
      // JSON.parse makes `__proto__` an own property, so this deletes data, never the prototype.
      delete value[key]
      walk.dropped++
      continue
    }
    walk.pairs++
    const child = value[key]
    if (typeof child === 'object') clean(child, walk)
  }
}

/** Lengths first: they rule out nearly every key without comparing text. */
const isForbidden = (key: string): boolean =>
  (key.length === 9 && (key === '__proto__' || key === 'prototype')) || (key.length === 11 && key === 'constructor')

/**
 * Finds a string field of a JSON object without parsing the whole: keys of the first level only, the last one where
 * a key repeats (as `JSON.parse` has it).
 * @returns null when the field is absent, not a string, or the text is no object
 */
export function topLevelString(bytes: Buffer, field: string, start = 0, end = bytes.length): string | null {
  const plain = Buffer.from(field)
  let found: string | null = null
  let depth = 0
  let expectKey = false
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) {
      const close = stringEnd(bytes, i + 1, end)
      if (depth === 1 && expectKey) {
        expectKey = false
        if (sameKey(bytes, i, close, plain, field)) {
          const [value, after] = stringAfterColon(bytes, close + 1, end)
          found = value
          i = after
          continue
        }
      }
      i = close
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++
      if (depth === 1) {
        if (byte === 0x5b) return null
        expectKey = true
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    } else if (byte === 0x2c && depth === 1) {
      expectKey = true
    }
  }
  return found
}

function sameKey(bytes: Buffer, open: number, close: number, plain: Buffer, field: string): boolean {
  if (close - open - 1 === plain.length) return plain.compare(bytes, open + 1, close) === 0
  if (close - open - 1 > plain.length * 6 || close - open - 1 < plain.length) return false
  // Longer than the name: the same only when spelled with escapes.
  return bytes.subarray(open + 1, close).includes(BACKSLASH) && parsedString(bytes, open, close) === field
}

/** The string value behind a key, and the position to go on from (of its last byte, or before the value). */
function stringAfterColon(bytes: Buffer, i: number, end: number): [string | null, number] {
  for (; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) {
      const close = stringEnd(bytes, i + 1, end)
      return [close - i > 4096 ? null : parsedString(bytes, i, close), close]
    }
    if (byte !== 0x3a && byte > 0x20) return [null, i - 1]
  }
  return [null, end]
}

function parsedString(bytes: Buffer, open: number, close: number): string | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', open, close + 1))
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
