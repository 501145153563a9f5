import { stringEnd } from './json-strings.ts'

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

export type QuotedNumbers = {
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
