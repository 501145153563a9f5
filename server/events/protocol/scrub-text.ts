import { KEY_CODE, KEY_COOKIE, KEY_ROUTE, type KeyClass, type KeyClassifier } from './scrub-keys.ts'
import { replaceCards, replaceIbans, replaceSsns } from './scrub-numbers.ts'
import { EMAIL, FILTERED } from './scrub-words.ts'

/**
 * A cache of source lines without possible secrets. The lines around frames repeat with each event of a problem, and
 * looking one up costs a third of checking it. Bounded; it pauses while lines hardly repeat.
 */
export class PlainLines {
  readonly #lines = new Set<string>()
  readonly #max: number
  #hits = 0
  #skipsLeft = 0

  constructor(max = MAX_LINES) {
    this.#max = max
  }

  has(line: string): boolean {
    if (this.#skipsLeft > 0) {
      this.#skipsLeft--
      return false
    }
    if (line.length > MAX_CHARACTERS || !this.#lines.has(line)) return false
    this.#hits++
    return true
  }

  add(line: string): void {
    if (this.#skipsLeft > 0 || line.length > MAX_CHARACTERS) return
    if (this.#lines.size >= this.#max) {
      if (this.#hits < this.#max) this.#skipsLeft = this.#max * SKIPS_PER_LINE
      this.#lines.clear()
      this.#hits = 0
    }
    this.#lines.add(line)
  }
}

/** With {@link MAX_CHARACTERS} at most 4 MB per thread, 7 MB where all lines have characters beyond Latin-1: two bytes each. */
const MAX_LINES = 16_384
const MAX_CHARACTERS = 200
/** During a pause, the number of lines it skips for each line of its capacity. */
const SKIPS_PER_LINE = 20

/** Secrets inside text (docs/protocol.md §16). One pass excludes text without secrets; all patterns take linear time. */

/** Excludes nearly all text; each alternative is required by a pattern below. */
const HINT_OF_NUMBER = /\d\d\d[ -]?\d\d/
const HINT_OF_VALUE = /:\/\/|--BEGIN|earer\s|EARER\s|[\\/](?:Users|home|Documents)/
const HINT_OF_PAIR = /=|["'] ?:/
const HINT_OF_PAIR_IN_CODE = /[^=!<>][=:] ?["']|["'?&][\w.-]{1,40}=/

/** The text without secrets; returns the same string when there are none. */
export function scrubText(text: string, kind: KeyClass, classifier: KeyClassifier): string {
  if (kind === KEY_CODE && isPlainLine(text)) return scrubEmails(text, classifier)
  let clean = text
  if (classifier.rules.defaults !== false) {
    if (text.length >= 11 && HINT_OF_NUMBER.test(text)) clean = scrubNumbers(clean)
    if (text.length >= 7 && HINT_OF_VALUE.test(text)) clean = scrubValues(clean, kind)
  }
  if ((kind === KEY_CODE ? HINT_OF_PAIR_IN_CODE : HINT_OF_PAIR).test(text)) {
    clean = scrubAssignments(clean, kind, classifier)
    clean = scrubQuotedPairs(clean, classifier)
  }
  return scrubEmails(clean, classifier)
}

const plainLines = new PlainLines()

/** Whether a line of source has none of the hints; then rules of projects can only match addresses. */
function isPlainLine(line: string): boolean {
  if (plainLines.has(line)) return true
  if (HINT_OF_PAIR_IN_CODE.test(line) || HINT_OF_NUMBER.test(line) || HINT_OF_VALUE.test(line)) return false
  plainLines.add(line)
  return true
}

const scrubEmails = (text: string, { rules }: KeyClassifier): string =>
  rules.removeEmails === true && (text.includes('@') || text.includes('%40')) ? text.replaceAll(EMAIL, FILTERED) : text

function scrubValues(text: string, kind: KeyClass): string {
  let clean = text
  if (clean.includes('--BEGIN')) clean = scrubPrivateKeys(clean)
  if (clean.includes('@')) clean = scrubUrlUsers(clean)
  if (/bearer\s/i.test(clean)) clean = scrubBearers(clean)
  return kind === KEY_ROUTE ? clean : scrubHomes(clean)
}

const filtered = (): string => FILTERED

const scrubNumbers = (text: string): string =>
  replaceIbans(replaceSsns(replaceCards(text, filtered), filtered), filtered)

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

/** Removes user and password of `scheme://user:password@host`. */
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
 * `name=value` in query strings, form bodies, cookies, command lines and log lines. In source text only literals are
 * secrets, as in `password = 'hunter2'` and `'token=abc'`.
 */
function scrubAssignments(text: string, kind: KeyClass, classifier: KeyClassifier): string {
  const cookies = kind === KEY_COOKIE
  let clean = ''
  let from = 0
  let equals = text.indexOf('=')
  while (equals >= 0) {
    let end = equals + 1
    const found = kind === KEY_CODE ? literalAt(text, equals, from) : assignmentAt(text, equals, from)
    if (found !== null && (cookies ? classifier.isSensitiveCookie(found.name) : classifier.isSensitive(found.name))) {
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

/** `"name": value` and `'name': value`, as in JSON and in Python's output, also with escaped quotes. */
function scrubQuotedPairs(text: string, classifier: KeyClassifier): string {
  let clean = ''
  let from = 0
  let colon = text.indexOf(':')
  while (colon >= 0) {
    const found = quotedValue(text, colon, from, classifier)
    if (found !== null) {
      clean += text.slice(from, found.start) + found.replacement
      from = found.end
    }
    colon = text.indexOf(':', Math.max(colon + 1, from))
  }
  return from === 0 ? text : clean + text.slice(from)
}

type Found = { start: number; end: number; replacement: string }

function quotedValue(text: string, colon: number, limit: number, classifier: KeyClassifier): Found | null {
  let close = colon - 1
  if (text[close] === ' ') close -= 1
  const quote = text[close]
  if (close <= limit || (quote !== '"' && quote !== "'")) return null
  const open = text.lastIndexOf(quote, close - 1)
  if (open < limit || close - open > MAX_NAME + 2) return null
  const name = text.slice(open + 1, close)
  if (!classifier.isSensitive(name.endsWith('\\') ? name.replace(/\\+$/, '') : name)) return null
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

/** The position after the closing quote. A quote after more backslashes than the opening one is part of the value. */
function closingQuote(text: string, from: number, mark: string): number {
  let at = text.indexOf(mark, from)
  while (at >= 0) {
    if (mark.length > 1 || text[at - 1] !== '\\') return at + mark.length
    at = text.indexOf(mark, at + mark.length)
  }
  return text.length
}
