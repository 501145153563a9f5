/**
 * Numbers of cards, accounts and social security (docs/protocol.md §16): found by form, confirmed by check digits. The pass
 * of wasm/secrets.ts finds their forms too.
 */

/** Sequences of digits and separators; dates and other numbers may be next to a card number. */
const NUMBERS = /(?<![\d.\w])\d(?:[ -]?\d){12,}(?![\d\w])/g
const MIN_CARD_DIGITS = 13
const MAX_CARD_DIGITS = 19
const SSN = /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/g

/** Replaces card numbers by the result of `by`. */
export const replaceCards = (text: string, by: (match: string) => string): string =>
  text.replace(NUMBERS, (found) => replaceCardsAmong(found, by))

/** Tries numbers, alone and with those after them, that together have as many digits as a card. */
function replaceCardsAmong(numbers: string, by: (match: string) => string): string {
  let clean = ''
  let from = 0
  let start = 0
  while (start < numbers.length) {
    const end = cardEnd(numbers, start)
    if (end !== null) {
      clean += numbers.slice(from, start) + by(numbers.slice(start, end))
      from = end
      start = end
    } else {
      while (start < numbers.length && isDigit(numbers, start)) start += 1
    }
    start += 1
  }
  return from === 0 ? numbers : clean + numbers.slice(from)
}

/**
 * The end of the longest card number that starts here; null without one. Cards are written in one piece or start with
 * four digits.
 */
function cardEnd(numbers: string, start: number): number | null {
  let found: number | null = null
  let digits = 0
  for (let at = start; at < numbers.length && digits < MAX_CARD_DIGITS; at += 1) {
    if (!isDigit(numbers, at)) continue
    digits += 1
    if (isDigit(numbers, at + 1)) continue
    if (digits === at + 1 - start && digits !== 4 && digits < MIN_CARD_DIGITS) return null
    if (digits >= MIN_CARD_DIGITS && isCard(numbers.slice(start, at + 1))) found = at + 1
  }
  return found
}

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

/** Replaces US social security numbers. */
export const replaceSsns = (text: string, by: (match: string) => string): string =>
  text.includes('-') ? text.replace(SSN, by) : text

/** Replaces account numbers by the result of `by`. */
export const replaceIbans = (text: string, by: (match: string) => string): string =>
  text.replace(IBAN, (found) => scrubIban(found, by))

/** Whether a text is the number of a card scheme, in one piece or in groups, with a right check digit. */
export function isCard(text: string): boolean {
  const digits = text.replaceAll(/[ -]/g, '')
  if (digits.length !== text.length && !/^\d{4}(?:[ -]\d{4}){2}[ -]\d{1,7}$|^\d{4}[ -]\d{6}[ -]\d{4,5}$/.test(text))
    return false
  return isCardScheme(digits) && hasLuhnDigit(digits)
}

function isCardScheme(digits: string): boolean {
  const length = digits.length
  const head = Number(digits.slice(0, 4))
  if (head >= 4000 && head < 5000) return length === 16 || length === 19
  if ((head >= 5100 && head < 5600) || (head >= 2221 && head < 2721)) return length === 16
  if ((head >= 3400 && head < 3500) || (head >= 3700 && head < 3800)) return length === 15
  if (head === 6011 || (head >= 6440 && head < 6600) || (head >= 6200 && head < 6300)) return length >= 16
  if (head >= 3528 && head < 3590) return length === 16
  if (
    (head >= 3000 && head < 3060) ||
    head === 3095 ||
    (head >= 3600 && head < 3700) ||
    (head >= 3800 && head < 4000)
  ) {
    return length === 14
  }
  return length >= 16 && ((head >= 5000 && head < 5100) || (head >= 5600 && head < 7000))
}

function hasLuhnDigit(digits: string): boolean {
  let sum = 0
  let double = false
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    let digit = digits.charCodeAt(index) - 48
    if (double) {
      digit *= 2
      if (digit > 9) digit -= 9
    }
    sum += digit
    double = !double
  }
  return sum % 10 === 0
}

/** Lengths of IBANs by country. */
const IBAN_LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 ' +
    'GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ' +
    'ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** The match may include the next word in capitals, so the country's length determines its end. */
function scrubIban(found: string, by: (match: string) => string): string {
  const length = IBAN_LENGTHS.get(found.slice(0, 2))
  if (length === undefined) return found
  let end = 0
  let count = 0
  while (end < found.length && count < length) {
    if (found[end] !== ' ') count += 1
    end += 1
  }
  const candidate = found.slice(0, end).replaceAll(' ', '')
  return count === length && hasIbanDigits(candidate) ? by(found.slice(0, end)) + found.slice(end) : found
}

function hasIbanDigits(iban: string): boolean {
  let rest = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const code = character.charCodeAt(0)
    rest = code >= 65 ? (rest * 100 + code - 55) % 97 : (rest * 10 + code - 48) % 97
  }
  return rest === 1
}
