import type { RuleBudget } from './rule-budget.ts'
import type { ScrubRule } from './scrub-rules.api.ts'
import { compileRules, type ProjectRules } from './scrub-rules.ts'
import { EXEMPT } from './scrub-words.ts'

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
export const KEY_CODE = 4
/** A route or URL, where `/home/feed` is no home directory. */
export const KEY_ROUTE = 5
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

/** Compared without separators, so that `api_key`, `api-key` and `apiKey` are equal. */
const SECRET_WORDS =
  /password|passwd|passphrase|secret|apikey|credentials|mysqlpwd|privatekey|token|bearer|twofactor|csrf|xsrf/
/** `auth` anywhere, but not in author, authored or authority. */
const AUTH = /auth(?!or(?!i[sz]))/
const OTP = /^t?otp|otp$|(?:^|[^a-z])t?otp(?:[^a-z]|$)/
const SESSION_COOKIES = new Set(
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
