import { KEY_CODE, KEY_COOKIE, KEY_ROUTE, type KeyClass, type KeyJudge } from './scrub-keys.ts'

/** Secrets inside text (ingest protocol 19). One pass sorts out text that cannot hold any; all patterns are linear. */

export const FILTERED = '[Filtered]'

/** Looks that sort out nearly all text; each alternative is what a pattern below cannot do without. */
const HINT_OF_NUMBER = /\d\d\d[ -]?\d\d/
const HINT_OF_VALUE = /:\/\/|--BEGIN|earer\s|EARER\s|[\\/](?:Users|home|Documents)/
const HINT_OF_PAIR = /=|["'] ?:/
const HINT_OF_PAIR_IN_CODE = /[^=!<>][=:] ?["']|["'?&][\w.-]{1,40}=/

/** The text without what must not be stored; the very same string where there was nothing. */
export function scrubText(text: string, kind: KeyClass, judge: KeyJudge): string {
  let clean = text
  if (judge.rules.defaults !== false) {
    if (text.length >= 11 && HINT_OF_NUMBER.test(text)) clean = scrubNumbers(clean)
    if (text.length >= 7 && HINT_OF_VALUE.test(text)) clean = scrubValues(clean, kind)
  }
  if ((kind === KEY_CODE ? HINT_OF_PAIR_IN_CODE : HINT_OF_PAIR).test(text)) {
    clean = scrubAssignments(clean, kind, judge)
    clean = scrubQuotedPairs(clean, judge)
  }
  if (judge.rules.removeEmails === true && clean.includes('@')) {
    clean = clean.replaceAll(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, FILTERED)
  }
  return clean
}

function scrubValues(text: string, kind: KeyClass): string {
  let clean = text
  if (clean.includes('--BEGIN')) clean = scrubPrivateKeys(clean)
  if (clean.includes('@')) clean = scrubUrlUsers(clean)
  if (/bearer\s/i.test(clean)) clean = scrubBearers(clean)
  return kind === KEY_ROUTE ? clean : scrubHomes(clean)
}

// --- Numbers ------------------------------------------------------------------------------------------------------

const CARD = /(?<![\d.\w])\d(?:[ -]?\d){12,18}(?![\d\w])/g
const SSN = /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/g

function scrubNumbers(text: string): string {
  let clean = text.replace(CARD, (found) => (isCard(found) ? FILTERED : found))
  if (clean.includes('-')) clean = clean.replace(SSN, FILTERED)
  return clean.replace(IBAN, scrubIban)
}

/** A number of a card scheme, written in one piece or in the groups cards have, with a right check digit. */
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

/** Lengths by country; a country without a length has no IBANs. */
const IBAN_LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 ' +
    'GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ' +
    'ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** The match may run on into the next word in capitals, so the country's own length decides where it ends. */
function scrubIban(found: string): string {
  const length = IBAN_LENGTHS.get(found.slice(0, 2))
  if (length === undefined) return found
  let end = 0
  let count = 0
  while (end < found.length && count < length) {
    if (found[end] !== ' ') count += 1
    end += 1
  }
  const candidate = found.slice(0, end).replaceAll(' ', '')
  return count === length && hasIbanDigits(candidate) ? FILTERED + found.slice(end) : found
}

function hasIbanDigits(iban: string): boolean {
  let rest = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const code = character.charCodeAt(0)
    rest = code >= 65 ? (rest * 100 + code - 55) % 97 : (rest * 10 + code - 48) % 97
  }
  return rest === 1
}

// --- Keys, addresses with passwords, bearer tokens, home directories ------------------------------------------------

function scrubPrivateKeys(text: string): string {
  let clean = ''
  let from = 0
  for (;;) {
    const begin = text.indexOf('-----BEGIN ', from)
    if (begin < 0) break
    const kind = text.slice(begin, begin + 72).indexOf('PRIVATE KEY')
    if (kind < 0) {
      clean += text.slice(from, begin + 11)
      from = begin + 11
      continue
    }
    const end = text.indexOf('-----END ', begin + kind)
    const close = end < 0 ? -1 : text.indexOf('-----', end + 9)
    clean += text.slice(from, begin) + FILTERED
    from = close < 0 ? text.length : close + 5
  }
  return from === 0 ? text : clean + text.slice(from)
}

const MAX_AUTHORITY = 512

/** `scheme://user:password@host` loses what stands before the `@`. */
function scrubUrlUsers(text: string): string {
  let clean = ''
  let from = 0
  let search = 0
  for (;;) {
    const mark = text.indexOf('://', search)
    if (mark < 0) break
    const start = mark + 3
    search = start
    const window = text.slice(start, start + MAX_AUTHORITY)
    const stop = window.search(/[/?#\s"'<>\\]/)
    const authority = stop < 0 ? window : window.slice(0, stop)
    const at = authority.lastIndexOf('@')
    const colon = authority.indexOf(':')
    if (at < 0 || colon < 0 || colon > at || authority.slice(0, at) === FILTERED) continue
    clean += text.slice(from, start) + FILTERED
    from = start + at
    search = from
  }
  return from === 0 ? text : clean + text.slice(from)
}

function scrubBearers(text: string): string {
  return text.replaceAll(
    /(?<![A-Za-z])(bearer\s{1,10})([A-Za-z0-9._~+/=-]{6,})/gi,
    (found, word: string, token: string) => (token.length >= 20 || /\d/.test(token) ? word + FILTERED : found),
  )
}

const HOME =
  /(?<![\w.-])((?:[A-Za-z]:)?[\\/]{1,4}(?:Users|home|Documents and Settings)[\\/]{1,4})([^\\/"'<>:\n]{1,64}(?=[\\/])|[^\\/\s"'<>:,;)]{1,64})/g

function scrubHomes(text: string): string {
  if (!text.includes('home') && !text.includes('Users') && !text.includes('Documents and ')) return text
  return text.replace(HOME, (found, path: string, name: string) => (name === FILTERED ? found : path + FILTERED))
}

// --- Names with values ----------------------------------------------------------------------------------------------

const MAX_NAME = 80
const NAME_CHARACTER = /[\w.\-[\]%$]/

/**
 * `name=value` in query strings, form bodies, cookies, command lines and log lines. Of source text only literals count,
 * as in `password = 'hunter2'` and `'token=abc'`: the rest is program.
 */
function scrubAssignments(text: string, kind: KeyClass, judge: KeyJudge): string {
  const cookies = kind === KEY_COOKIE
  let clean = ''
  let from = 0
  let equals = text.indexOf('=')
  while (equals >= 0) {
    let end = equals + 1
    const found = kind === KEY_CODE ? literalAt(text, equals, from) : assignmentAt(text, equals, from)
    if (found !== null && (cookies ? judge.isSensitiveCookie(found.name) : judge.isSensitive(found.name))) {
      end = valueEnd(text, found.start, cookies)
      if (end > found.start && !text.startsWith(FILTERED, found.start)) {
        clean += text.slice(from, found.start) + FILTERED
        from = end
      }
    }
    equals = text.indexOf('=', Math.max(end, equals + 1))
  }
  return from === 0 ? text : clean + text.slice(from)
}

type Assignment = { name: string; start: number }

function assignmentAt(text: string, equals: number, limit: number): Assignment | null {
  const next = text[equals + 1]
  if (next === '=') return null
  const name = nameBefore(text, equals, limit)
  return name === '' ? null : { name, start: next === '>' ? equals + 2 : equals + 1 }
}

function literalAt(text: string, equals: number, limit: number): Assignment | null {
  const start = text[equals + 1] === ' ' ? equals + 2 : equals + 1
  const first = text[start]
  const quoted = first === '"' || first === "'"
  const name = nameBefore(text, quoted && text[equals - 1] === ' ' ? equals - 1 : equals, limit)
  if (name === '') return null
  if (quoted) return { name, start }
  const before = text[equals - name.length - 1]
  const inLiteral = before === '"' || before === "'" || before === '?' || before === '&'
  return inLiteral && first !== '=' && start === equals + 1 ? { name, start } : null
}

function nameBefore(text: string, equals: number, limit: number): string {
  let start = equals
  const lowest = Math.max(limit, equals - MAX_NAME)
  while (start > lowest && NAME_CHARACTER.test(text[start - 1] ?? '')) start -= 1
  return text.slice(start, equals)
}

function valueEnd(text: string, start: number, cookies: boolean): number {
  const quote = text[start]
  if (quote === '"' || quote === "'") {
    const close = text.indexOf(quote, start + 1)
    return close < 0 ? text.length : close + 1
  }
  let end = start
  while (end < text.length && !(cookies ? text[end] === ';' : isValueStop(text.charCodeAt(end)))) end += 1
  return end
}

/** Space and control characters, and `& ; , " ' < > ) } ]` and the back-tick. */
function isValueStop(code: number): boolean {
  return (
    code <= 32 ||
    code === 38 ||
    code === 59 ||
    code === 44 ||
    code === 34 ||
    code === 39 ||
    code === 60 ||
    code === 62 ||
    code === 41 ||
    code === 125 ||
    code === 93 ||
    code === 96
  )
}

/** `"name": value` and `'name': value`, as in JSON and in what Python prints, also with escaped quotes. */
function scrubQuotedPairs(text: string, judge: KeyJudge): string {
  let clean = ''
  let from = 0
  let colon = text.indexOf(':')
  while (colon >= 0) {
    const found = quotedValue(text, colon, from, judge)
    if (found !== null) {
      clean += text.slice(from, found.start) + found.replacement
      from = found.end
    }
    colon = text.indexOf(':', Math.max(colon + 1, from))
  }
  return from === 0 ? text : clean + text.slice(from)
}

type Found = { start: number; end: number; replacement: string }

function quotedValue(text: string, colon: number, limit: number, judge: KeyJudge): Found | null {
  let close = colon - 1
  if (text[close] === ' ') close -= 1
  const quote = text[close]
  if (close <= limit || (quote !== '"' && quote !== "'")) return null
  const open = text.lastIndexOf(quote, close - 1)
  if (open < limit || close - open > MAX_NAME + 2) return null
  const name = text.slice(open + 1, close)
  if (!judge.isSensitive(name.endsWith('\\') ? name.replace(/\\+$/, '') : name)) return null
  let start = colon + 1
  while (text[start] === ' ') start += 1
  const escape = /^(\\{0,7})(["'])/.exec(text.slice(start, start + 8))
  if (escape !== null) {
    const mark = escape[0]
    const end = closingQuote(text, start + mark.length, mark)
    return end - start <= 2 * mark.length ? null : { start, end, replacement: `${mark}${FILTERED}${mark}` }
  }
  const number = /^-?\d[\d.eE+-]{0,40}/.exec(text.slice(start, start + 42))
  if (number === null) return null
  return { start, end: start + number[0].length, replacement: `${quote}${FILTERED}${quote}` }
}

/** Just behind the quote that closes; a quote behind more backslashes than the opening one had belongs to the value. */
function closingQuote(text: string, from: number, mark: string): number {
  let at = text.indexOf(mark, from)
  while (at >= 0) {
    if (mark.length > 1 || text[at - 1] !== '\\') return at + mark.length
    at = text.indexOf(mark, at + mark.length)
  }
  return text.length
}
