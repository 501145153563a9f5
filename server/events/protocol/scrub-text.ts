import { replaceCards, replaceIbans, replaceSsns } from './scrub-numbers.ts'
import { EMAIL, FILTERED, EXEMPT } from './scrub-words.ts'
import type { RuleBudget } from './rule-budget.ts'
import type { ScrubRule } from './scrub-rules.api.ts'
import { compileRules, type ProjectRules } from './scrub-rules.ts'

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

/** Names of secrets (docs/protocol.md §16), and parts of an event that are never scrubbed. */

/** Classes of keys. */
export const KEY_PLAIN = 0
/** The whole value is a secret. */
export const KEY_SENSITIVE = 1
/** Not scrubbed, with everything below it. */
export const KEY_EXEMPT = 2
/** A cookie header, or an object of cookies: here names of session cookies are secrets. */
export const KEY_COOKIE = 3
/** Source text around a frame: secret values are removed, assignments are program text. */
const KEY_CODE = 4
/** A route or URL, where `/home/feed` is no home directory. */
const KEY_ROUTE = 5
/** An IP address, removed by a setting of the project. */
export const KEY_ADDRESS = 6
/** A field that events need (scrub-words.ts): its text is not scrubbed, an object of an app with this name is. */
export const KEY_FIXED = 7

export type KeyClass = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

export type ScrubRules = {
  /** Further keys, matched like the default ones: case-insensitive, anywhere in the key. */
  sensitiveKeys?: readonly string[]
  /** Keys whose values are never scrubbed; the whole key, case-insensitive. */
  safeKeys?: readonly string[]
  /** False switches the default keys and patterns off. */
  defaults?: boolean
  /** Removes IP addresses of users. Off by default. The caller must then also leave out the connection's address. */
  removeAddresses?: boolean
  /** Replaces e-mail addresses anywhere. Off by default. */
  removeEmails?: boolean
  /** Rules of the project, applied before everything else. */
  rules?: readonly ScrubRule[]
  /** Key of the hashes that rules create; without it they replace the value. */
  hashKey?: Buffer | null
  /** The budget of custom expressions, for all parts of a payload together; default: each part its own. */
  budget?: RuleBudget
}

const CODE = new Set(['context_line', 'pre_context', 'post_context'])
const ROUTE = new Set([
  'transaction',
  'url',
  'to',
  'from',
  'route',
  'path',
  'pathname',
  'url.path',
  'http.route',
  'target',
])
/** Fields, headers, environment variables and attributes with the IP address of a user (docs/protocol.md §16). */
const ADDRESS = new Set(
  (
    'ip_address remote_addr client_ip clientip ip client.address client.ip user.ip_address source.address http.client_ip ' +
    'net.peer.ip net.sock.peer.addr network.peer.address x-forwarded-for x-real-ip x-client-ip x-cluster-client-ip ' +
    'x-original-forwarded-for forwarded forwarded-for true-client-ip cf-connecting-ip cf-connecting-ipv6 fastly-client-ip ' +
    'fly-client-ip x-appengine-user-ip x-azure-clientip http_x_forwarded_for http_x_real_ip http_client_ip ' +
    'http_x_client_ip http_forwarded http_true_client_ip http_cf_connecting_ip'
  ).split(' '),
)

/**
 * Names and forms of secrets; the pass of wasm/secrets.ts finds them too, and a property test compares both. Compared
 * without separators, so that `api_key`, `api-key` and `apiKey` are equal.
 */
export const SECRET_WORDS =
  /password|passwd|passphrase|secret|apikey|credentials|mysqlpwd|privatekey|token|bearer|twofactor|csrf|xsrf/
/** `auth` anywhere, but not in author, authored or authority. */
const AUTH = /auth(?!or(?!i[sz]))/
const OTP = /^t?otp|otp$|(?:^|[^a-z])t?otp(?:[^a-z]|$)/
export const SESSION_COOKIES = new Set(
  'sessionid jsessionid phpsessid aspsessionid asp.net_sessionid connect.sid fasthttpsessionid irclogsession laravel_session mysession sentrysid symfony user_session usersession __session'.split(
    ' ',
  ),
)
const SESSION_COOKIE = /sess|(?:^|[^a-z])sid(?:[^a-z]|$)|^sudo$|^su$|jwt|remember|identity/

/** Whether the value of a name is a secret. */
function isSecretName(key: string): boolean {
  const lower = key.toLowerCase()
  if (SECRET_WORDS.test(lower.replaceAll(/[-_.\s]/g, ''))) return true
  return AUTH.test(lower) || OTP.test(lower) || SESSION_COOKIES.has(lower)
}

/** For cookies: also names of session cookies. */
function isSecretCookie(name: string): boolean {
  return isSecretName(name) || SESSION_COOKIE.test(name.toLowerCase())
}

const MAX_REMEMBERED = 10_000
const MAX_REMEMBERED_LENGTH = 64

/** Classifies keys by a set of rules. Keys repeat in events, so it caches results, up to a limit. */
export class KeyClassifier {
  readonly rules: ScrubRules
  /** Rules of the project; null without any. */
  readonly project: ProjectRules | null
  /** Remaining texts of the present payload that may be parsed as JSON. */
  jsonTextsLeft = 0
  readonly #keys = new Map<string, KeyClass>()
  readonly #cookies = new Map<string, boolean>()
  readonly #extra: readonly string[]
  readonly #safe: ReadonlySet<string>

  constructor(rules: ScrubRules) {
    this.rules = rules
    this.project = (rules.rules?.length ?? 0) === 0 ? null : compileRules(rules.rules ?? [], rules.hashKey ?? null)
    this.#extra = (rules.sensitiveKeys ?? []).map((key) => key.toLowerCase()).filter((key) => key !== '')
    this.#safe = new Set((rules.safeKeys ?? []).map((key) => key.toLowerCase()))
  }

  classOf(key: string): KeyClass {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const classified = this.#classify(key)
    if (this.#keys.size < MAX_REMEMBERED && key.length <= MAX_REMEMBERED_LENGTH) this.#keys.set(key, classified)
    return classified
  }

  isSensitive(key: string): boolean {
    return this.classOf(key) === KEY_SENSITIVE
  }

  isSensitiveCookie(name: string): boolean {
    const known = this.#cookies.get(name)
    if (known !== undefined) return known
    const classified =
      this.classOf(name) === KEY_SENSITIVE ||
      (this.rules.defaults !== false && !this.#safe.has(name.toLowerCase()) && isSecretCookie(name))
    if (this.#cookies.size < MAX_REMEMBERED && name.length <= MAX_REMEMBERED_LENGTH) this.#cookies.set(name, classified)
    return classified
  }

  #classify(key: string): KeyClass {
    const lower = key.toLowerCase()
    if (this.#safe.has(lower)) return KEY_EXEMPT
    if (this.#extra.some((part) => lower.includes(part))) return KEY_SENSITIVE
    if (EXEMPT.has(lower)) return KEY_FIXED
    if (this.rules.removeAddresses === true && ADDRESS.has(lower)) return KEY_ADDRESS
    if (this.rules.defaults === false) return KEY_PLAIN
    if (isSecretName(key)) return KEY_SENSITIVE
    if (lower.includes('cookie')) return KEY_COOKIE
    if (CODE.has(lower)) return KEY_CODE
    return ROUTE.has(lower) ? KEY_ROUTE : KEY_PLAIN
  }
}
