import { type Notes, cut, storable, tidy } from './strings.ts'

/**
 * Free JSON inside an event (extra, contexts, variables, breadcrumb data). Clean values, the usual case, are used without
 * copying; others are copied with corrections.
 */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }
export type JsonRecord = { [key: string]: JsonValue }

/** Deeper values are left out; the guard before `JSON.parse` refuses more than 64 levels. */
const MAX_DEPTH = 64
const MAX_KEY = 200

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

/** Reads a list: plain, wrapped in `{values: […]}`, or with `single` one object. */
export function unwrapList(value: unknown, notes: Notes, name: string, single = false): unknown[] {
  if (value === null || value === undefined) return []
  if (isList(value)) return value
  if (isRecord(value)) {
    const values = value['values']
    if (isList(values)) return values
    if (single && !('values' in value)) return [value]
    if (values === null || values === undefined) return []
  }
  notes.add(name, 'Expected a list.')
  return []
}

/** Remaining characters of a size limit that several parts share. */
export class JsonBudget {
  left: number
  spent = false

  constructor(characters: number) {
    this.left = characters
  }
}

/** A record of clean JSON; null when it is missing, empty or no object. Forbidden keys are removed. */
export function cleanRecord(value: unknown, budget: JsonBudget, notes: Notes, name: string): JsonRecord | null {
  if (value === null || value === undefined) return null
  if (!isRecord(value)) {
    notes.add(name, 'Expected an object.')
    return null
  }
  const before = budget.left
  if (isCleanRecord(value, budget)) return isEmpty(value) ? null : value
  budget.left = before
  const copy = copyJson(value, budget, notes, name, 0)
  return isJsonRecord(copy) && !isEmpty(copy) ? copy : null
}

/** Any JSON value, clean; null stays null. */
export function cleanValue(value: unknown, budget: JsonBudget, notes: Notes, name: string): JsonValue {
  if (value === undefined) return null
  const before = budget.left
  if (isClean(value, budget, 0)) return value
  budget.left = before
  return copyJson(value, budget, notes, name, 0) ?? null
}

export function isEmpty(value: object): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false
  return true
}

/** Whether a name may be a key of our objects. */
export function isSafeKey(key: string): boolean {
  return key !== '__proto__' && key !== 'constructor' && key !== 'prototype'
}

function isJsonRecord(value: JsonValue | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function isCleanRecord(value: Record<string, unknown>, budget: JsonBudget): value is JsonRecord {
  return isClean(value, budget, 0)
}

/** Whether the value can be used without copying; subtracts its size from the budget. */
function isClean(value: unknown, budget: JsonBudget, depth: number): value is JsonValue {
  switch (typeof value) {
    case 'string':
      budget.left -= value.length
      return budget.left >= 0 && isCleanText(value)
    case 'number':
      budget.left -= 8
      return Number.isFinite(value)
    case 'boolean':
      budget.left -= 4
      return true
    case 'object': {
      if (value === null) return true
      if (depth >= MAX_DEPTH) return false
      if (isList(value)) {
        budget.left -= value.length
        for (const element of value) if (!isClean(element, budget, depth + 1)) return false
        return budget.left >= 0
      }
      if (!isRecord(value)) return false
      for (const key in value) {
        budget.left -= key.length + 4
        if (key.length > MAX_KEY || !isSafeKey(key) || !isCleanText(key)) return false
        if (!isClean(value[key], budget, depth + 1)) return false
      }
      return budget.left >= 0
    }
    default:
      return false
  }
}

/** Copies a value with corrections; undefined means that the entry is left out. */
function copyJson(
  value: unknown,
  budget: JsonBudget,
  notes: Notes,
  name: string,
  depth: number,
): JsonValue | undefined {
  switch (typeof value) {
    case 'string': {
      if (budget.left <= 0) return spend(budget, notes, name)
      const text = storable(value.length > budget.left ? cut(value, Math.max(budget.left, 1)) : value)
      budget.left -= value.length
      if (budget.left < 0) spend(budget, notes, name)
      return text
    }
    case 'number':
      budget.left -= 8
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
      budget.left -= 4
      return value
    case 'object': {
      if (value === null) return null
      if (budget.left <= 0) return spend(budget, notes, name)
      if (depth >= MAX_DEPTH) {
        notes.add(name, `Nested deeper than ${MAX_DEPTH} levels.`)
        return undefined
      }
      return isList(value) ? copyList(value, budget, notes, name, depth) : copyRecord(value, budget, notes, name, depth)
    }
    default:
      return undefined
  }
}

function copyList(value: unknown[], budget: JsonBudget, notes: Notes, name: string, depth: number): JsonValue[] {
  const list: JsonValue[] = []
  for (const element of value) {
    if (budget.left <= 0) {
      spend(budget, notes, name)
      break
    }
    budget.left -= 1
    list.push(copyJson(element, budget, notes, name, depth + 1) ?? null)
  }
  return list
}

function copyRecord(value: object, budget: JsonBudget, notes: Notes, name: string, depth: number): JsonRecord {
  const record: JsonRecord = {}
  for (const [key, element] of Object.entries(value)) {
    if (budget.left <= 0) {
      spend(budget, notes, name)
      break
    }
    if (!isSafeKey(key)) {
      notes.add(name, `The key ${key} is not allowed.`)
      continue
    }
    budget.left -= key.length + 4
    const kept = copyJson(element, budget, notes, name, depth + 1)
    // A key may become a forbidden one by losing a NUL, so it is checked again.
    const safeKey = storable(cut(key, MAX_KEY))
    if (kept !== undefined && isSafeKey(safeKey)) record[safeKey] = kept
  }
  return record
}

function spend(budget: JsonBudget, notes: Notes, name: string): undefined {
  if (!budget.spent) notes.add(name, 'Too large; the rest was left out.')
  budget.spent = true
  return undefined
}

const BACKSLASH = 0x5c

/**
 * Position of the quote that ends the string whose first character is at `start`; the text's length when there is none.
 * Searching quotes and then their escapes is twice as fast as reading every character (measured).
 */
export function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start)
  while (quote !== -1) {
    if (!isEscaped(text, quote)) return quote
    quote = text.indexOf('"', quote + 1)
  }
  return text.length
}

/** Whether the quote at `at` belongs to its string: an odd number of backslashes stands before it. */
export function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}

/**
 * Numbers of a payload with more digits than a JavaScript number holds (docs/decisions/long-numbers.md). They are read as
 * text with the digits that were sent.
 */

/** The most significant digits that a program writes for a double. */
const MAX_DOUBLE_DIGITS = 17
/** Every number with fewer significant digits is held, except at the ends of the range of exponents. */
const MIN_LONG_DIGITS = 16

const INTEGER = /^-?\d+$/
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Whether a JavaScript number does not hold the digits of a JSON number: integers beyond ±(2^53 − 1), and other numbers
 * that it cannot write again with as many digits. So 0.10000000000000001, as programs write a double, is held.
 */
export function losesDigits(source: string): boolean {
  const number = Number(source)
  if (INTEGER.test(source)) return !Number.isSafeInteger(number)
  // As JavaScript writes it.
  if (String(number) === source) return false
  const digits = significantDigits(source)
  if (digits === '') return false
  if (digits.length > MAX_DOUBLE_DIGITS) return true
  return significantDigits(number.toExponential(digits.length - 1)) !== digits
}

function significantDigits(source: string): string {
  const exponent = source.search(/[eE]/)
  const written = (exponent < 0 ? source : source.slice(0, exponent)).replace('.', '')
  let start = 0
  while (written[start] === '0' || written[start] === '-') start++
  let end = written.length
  while (end > start && written[end - 1] === '0') end--
  return written.slice(start, end)
}

/** A number for calculations: text that stands for a long number becomes the nearest number, other values stay. */
export const nearestNumber = (value: unknown): unknown =>
  typeof value === 'string' && value.length >= MIN_LONG_DIGITS && NUMBER.test(value) && losesDigits(value)
    ? Number(value)
    : value

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const SLASH = 0x2f
const DIGIT_9 = 0x39
const COLON = 0x3a
const BRACKET = 0x5b

/** Digits and the decimal point; false for NaN, which is behind the end of a text. */
const isDigit = (code: number): boolean => code >= DOT && code <= DIGIT_9 && code !== SLASH
/** Digits, `.`, `+`, `-`, `e` and `E`. */
const isNumberPart = (code: number): boolean =>
  isDigit(code) || code === MINUS || code === 0x2b || code === 0x65 || code === 0x45
/** Digits of a time in seconds. */
const SECONDS_DIGITS = 10

/**
 * Whether a JSON text has a number that loses digits. Looks at every sixteenth character, because such a number has 16
 * digits in a row: 4 µs for 20 kB. It does not see numbers that only their exponent makes too large or too small.
 */
export function hasLongNumbers(text: string): boolean {
  for (let at = MIN_LONG_DIGITS - 1; at < text.length; at += MIN_LONG_DIGITS) {
    if (!isDigit(text.charCodeAt(at))) continue
    let digits = at
    while (isDigit(text.charCodeAt(digits - 1))) digits--
    while (isDigit(text.charCodeAt(at + 1))) at++
    if (at - digits + 1 < MIN_LONG_DIGITS) continue
    const start = text.charCodeAt(digits - 1) === MINUS ? digits - 1 : digits
    // Nearly always false for digits inside a string.
    if (isAfterMark(text, start) && isLongNumberAt(text, start)) return true
  }
  return false
}

/** Whether `:`, `,`, `[` or nothing stands before a position, apart from white space. */
function isAfterMark(text: string, start: number): boolean {
  let before = start - 1
  while (text.charCodeAt(before) <= SPACE) before--
  const mark = text.charCodeAt(before)
  return mark === COLON || mark === COMMA || mark === BRACKET || before < 0
}

/** @param start where a number starts */
function isLongNumberAt(text: string, start: number): boolean {
  const end = numberEnd(text, start)
  // Transactions have hundreds of times with all digits of a double, `"timestamp":1732094845.1234567`.
  const mayBeTime = end - start <= MAX_DOUBLE_DIGITS + 1 && text.charCodeAt(start + SECONDS_DIGITS) === DOT
  if (mayBeTime && (text.startsWith('stamp":', start - 7) || text.startsWith('stamp": ', start - 8))) return false
  return losesDigits(text.slice(start, end))
}

function numberEnd(text: string, start: number): number {
  let end = start
  while (isNumberPart(text.charCodeAt(end))) end++
  return end
}

type QuotedNumbers = {
  /** The JSON text with quotes around its long numbers. */
  readonly text: string
  /** The long numbers that the text has only as numbers, not as text too. */
  readonly numbers: ReadonlySet<string>
}

/** @param text valid JSON */
export function quoteLongNumbers(text: string): QuotedNumbers {
  const numbers = new Set<string>()
  const texts = new Set<string>()
  let quoted = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const start = at + 1
      at = stringEnd(text, start)
      const first = text.charCodeAt(start)
      if (first === MINUS || isDigit(first)) texts.add(text.slice(start, at))
    } else if (code === MINUS || isDigit(code)) {
      const end = numberEnd(text, at)
      const source = text.slice(at, end)
      if (losesDigits(source)) {
        numbers.add(source)
        quoted += `${text.slice(from, at)}"${source}"`
        from = end
      }
      at = end - 1
    }
  }
  return { text: quoted + text.slice(from), numbers: numbers.difference(texts) }
}

/** Reads single fields of an untrusted payload. A wrong type gives null and a note, never an error. */

/** Text; numbers and booleans become text, empty text becomes null. */
export function textField(value: unknown, max: number, notes: Notes, name: string): string | null {
  if (typeof value === 'string') return value === '' ? null : tidy(value, max)
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  notes.add(name, 'Expected text.')
  return null
}

/** A finite number, also as decimal text. */
export function numberField(raw: unknown, notes: Notes, name: string): number | null {
  const value = nearestNumber(raw)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'string' && value.length <= 20) {
    const number = Number(value)
    if (Number.isFinite(number)) return number
  }
  notes.add(name, 'Expected a number.')
  return null
}

/** True and false, also as text; anything else is null. */
export function booleanField(value: unknown, notes: Notes, name: string): boolean | null {
  if (typeof value === 'boolean') return value
  if (value === null || value === undefined) return null
  if (value === 'true' || value === 'True' || value === 1) return true
  if (value === 'false' || value === 'False' || value === 0) return false
  notes.add(name, 'Expected true or false.')
  return null
}

/** An address: hexadecimal text with `0x`, or a number. */
export function addressField(value: unknown, notes: Notes, name: string): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return `0x${value.toString(16)}`
  if (typeof value === 'string' && value.length <= 20) {
    if (/^0x[0-9a-f]{1,16}$/.test(value)) return value
    if (/^0x[0-9a-f]{1,16}$/i.test(value)) return value.toLowerCase()
    if (/^[0-9]{1,20}$/.test(value)) return `0x${BigInt(value).toString(16)}`
    if (value === '') return null
  }
  notes.add(name, 'Expected an address.')
  return null
}
