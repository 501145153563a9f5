import { isList, isRecord, nearestNumber } from './json.ts'
import { cut } from './strings.ts'
import type { SecurityKind } from '#shared/alert-rules.ts'
import type { Event } from './event.api.ts'

/**
 * Security reports of browsers (docs/protocol.md §13): Content-Security-Policy in its old form and by the Reporting API,
 * Expect-CT, Expect-Staple, HPKP. Pure; takes any JSON and never throws.
 */

export type SecurityReport =
  | {
      /** An event's payload. */
      readonly event: Record<string, unknown>
      /** Equal for two reports of the same problem. */
      readonly group: string
      /** Milliseconds between the report and its sending. */
      readonly ageMs: number
    }
  | { readonly outcome: 'filtered' | 'discarded' | 'invalid'; readonly reason: string }

/** Context of the report from its request. */
type ReportSource = {
  readonly release: string | null
  readonly environment: string | null
  /** The user agent of the request; reports of the Reporting API have their own. */
  readonly userAgent: string | null
}

const MAX_TEXT = 2_000
const MAX_POLICY = 8_000
const MAX_AGE_MS = 7 * 86_400_000

/** The reports of a payload: one, or a list as the Reporting API sends it. */
export const reportsIn = (payload: unknown): readonly unknown[] => (isList(payload) ? payload : [payload])

export function readSecurityReport(raw: unknown, source: ReportSource): SecurityReport {
  if (!isRecord(raw)) return { outcome: 'invalid', reason: 'not_an_object' }
  if (typeof raw['type'] === 'string' && isRecord(raw['body']))
    return readReportingApi(raw, raw['type'], raw['body'], source)
  const csp = raw['csp-report']
  if (isRecord(csp)) return cspReport((name) => csp[name], source, 0)
  const expectCt = raw['expect-ct-report']
  if (isRecord(expectCt)) return certificateReport('expectct', 'Expect-CT failed', expectCt, source)
  const expectStaple = raw['expect-staple-report']
  if (isRecord(expectStaple)) return certificateReport('expectstaple', 'Expect-Staple failed', expectStaple, source)
  if (isList(raw['known-pins'])) return certificateReport('hpkp', 'Public key pinning failed', raw, source)
  return { outcome: 'invalid', reason: 'not_a_report' }
}

function readReportingApi(
  raw: Record<string, unknown>,
  type: string,
  body: Record<string, unknown>,
  source: ReportSource,
): SecurityReport {
  // Sites with one reporting URL also send deprecations, interventions and network errors to it.
  if (type !== 'csp-violation') return { outcome: 'discarded', reason: 'unsupported_report' }
  const age = raw['age']
  const ageMs = typeof age === 'number' && age > 0 ? Math.min(age, MAX_AGE_MS) : 0
  const field = (name: string): unknown => {
    if (name === 'document-uri') return body['documentURL'] ?? raw['url']
    return body[REPORTING_NAMES[name] ?? name]
  }
  return cspReport(field, { ...source, userAgent: textOf(raw['user_agent'], 1_000) ?? source.userAgent }, ageMs)
}

const REPORTING_NAMES: Readonly<Record<string, string>> = {
  'blocked-uri': 'blockedURL',
  'effective-directive': 'effectiveDirective',
  'original-policy': 'originalPolicy',
  'source-file': 'sourceFile',
  'line-number': 'lineNumber',
  'column-number': 'columnNumber',
  'status-code': 'statusCode',
  'script-sample': 'sample',
}

// --- Content Security Policy --------------------------------------------------------------------------------------

/** Schemes of extensions; a policy that blocks them is no problem of the page. */
const NOISE =
  /^(?:(?:chrome|moz|safari|safari-web|ms-browser|webkit-masked-url)(?:-extension)?|about|blob)(?::(?!https?:)|$)/i

function cspReport(field: (name: string) => unknown, source: ReportSource, ageMs: number): SecurityReport {
  const violated = textOf(field('violated-directive'), MAX_TEXT) ?? ''
  const directive = directiveOf(textOf(field('effective-directive'), 200) ?? violated)
  if (directive === null) return { outcome: 'invalid', reason: 'no_directive' }
  const blockedUri = textOf(field('blocked-uri'), MAX_TEXT) ?? ''
  const sourceFile = textOf(field('source-file'), MAX_TEXT) ?? ''
  if (NOISE.test(blockedUri) || NOISE.test(sourceFile)) return { outcome: 'filtered', reason: 'csp_noise' }
  const document = withoutQuery(textOf(field('document-uri'), MAX_TEXT) ?? '')
  const blocked = blockedOf(blockedUri, violated, directive, document)
  const isReportOnly = field('disposition') === 'report'
  return {
    ageMs,
    group: `csp\n${directive}\n${blocked}`,
    event: eventOf('csp', source, {
      level: isReportOnly ? 'warning' : 'error',
      logentry: { formatted: cspTitle(directive, blocked) },
      culprit: directive,
      tags: { 'effective-directive': directive, 'blocked-uri': cut(withoutQuery(blockedUri) || blocked, 200) },
      url: document,
      referrer: withoutQuery(textOf(field('referrer'), MAX_TEXT) ?? ''),
      context: {
        effective_directive: directive,
        blocked,
        blocked_uri: withoutQuery(blockedUri),
        violated_directive: violated,
        disposition: isReportOnly ? 'report' : 'enforce',
        source_file: withoutQuery(sourceFile),
        line_number: numberOf(field('line-number')),
        column_number: numberOf(field('column-number')),
        status_code: numberOf(field('status-code')),
        script_sample: textOf(field('script-sample'), 200),
        original_policy: textOf(field('original-policy'), MAX_POLICY),
      },
    }),
  }
}

/** `script-src-elem 'self' https://…` → `script-src-elem`; null without a valid name. */
function directiveOf(text: string): string | null {
  const name = text.trim().split(/\s/, 1)[0]?.toLowerCase() ?? ''
  return /^[a-z][a-z-]{1,60}$/.test(name) ? name : null
}

/**
 * The blocked resource, for grouping: a host (with its port), or the browser's keyword. Old browsers send nothing for
 * inline code; then the directive distinguishes it.
 */
function blockedOf(uri: string, violated: string, directive: string, document: string): string {
  if (uri === '') {
    if (violated.includes("'unsafe-eval'")) return 'eval'
    return /^(?:script|style)-src/.test(directive) ? 'inline' : 'self'
  }
  if (/^data(?::|$)/i.test(uri)) return 'data:'
  if (/^[a-z-]{1,40}$/i.test(uri)) return uri.toLowerCase()
  const host = hostOf(uri)
  if (host === null) return cut(withoutQuery(uri), 100)
  return host === hostOf(document) ? 'self' : host
}

function hostOf(uri: string): string | null {
  try {
    const { host } = new URL(uri.replace(/^blob:/i, ''))
    return host === '' ? null : cut(host, 200)
  } catch {
    return null
  }
}

/** Titles by directive. */
const NOUNS: readonly (readonly [RegExp, string])[] = [
  [/^script-src/, 'script'],
  [/^style-src/, 'style'],
  [/^img-src/, 'image'],
  [/^font-src/, 'font'],
  [/^connect-src/, 'connection'],
  [/^media-src/, 'media'],
  [/^object-src/, 'object'],
  [/^(?:child|frame|fenced-frame)-src/, 'frame'],
  [/^worker-src/, 'worker'],
  [/^manifest-src/, 'manifest'],
  [/^prefetch-src/, 'prefetch'],
  [/^form-action/, 'form action'],
  [/^frame-ancestors/, 'embedding'],
  [/^base-uri/, 'base address'],
]

function cspTitle(directive: string, blocked: string): string {
  const noun = NOUNS.find(([pattern]) => pattern.test(directive))?.[1] ?? directive
  if (blocked === 'inline') return `Blocked inline '${noun}'`
  if (blocked === 'eval' || blocked === 'wasm-eval') return `Blocked '${blocked}' in a ${noun}`
  return `Blocked '${noun}' from '${blocked}'`
}

// --- Certificates -------------------------------------------------------------------------------------------------

function certificateReport(
  type: 'expectct' | 'expectstaple' | 'hpkp',
  what: string,
  report: Record<string, unknown>,
  source: ReportSource,
): SecurityReport {
  const hostname = textOf(report['hostname'], 253)
  if (hostname === null) return { outcome: 'invalid', reason: 'no_hostname' }
  const port = numberOf(report['port'])
  const tags: Record<string, string> = { hostname: cut(hostname, 200) }
  if (port !== null) tags['port'] = String(port)
  return {
    ageMs: 0,
    group: `${type}\n${hostname.toLowerCase()}`,
    event: eventOf(type, source, {
      level: 'error',
      logentry: { formatted: `${what} for '${hostname}'` },
      culprit: hostname,
      tags,
      url: `https://${hostname}${port === null || port === 443 ? '' : `:${port}`}/`,
      referrer: '',
      context: {
        hostname: hostname.toLowerCase(),
        port,
        date_time: textOf(report['date-time'], 100),
        effective_expiration_date: textOf(report['effective-expiration-date'], 100),
        noted_hostname: textOf(report['noted-hostname'], 253),
        response_status: textOf(report['response-status'], 100),
        cert_status: textOf(report['cert-status'], 100),
        known_pins: isList(report['known-pins'])
          ? report['known-pins'].slice(0, 10).map((pin) => textOf(pin, 200))
          : null,
        served_certificates: isList(report['served-certificate-chain'])
          ? report['served-certificate-chain'].length
          : null,
      },
    }),
  }
}

// --- Common -------------------------------------------------------------------------------------------------------

type Facts = {
  readonly level: string
  readonly logentry: { readonly formatted: string }
  readonly culprit: string
  readonly tags: Readonly<Record<string, string>>
  readonly url: string
  readonly referrer: string
  readonly context: Readonly<Record<string, unknown>>
}

/** Grouping reads the context with the name of the type (issues/grouping/v2.ts). */
function eventOf(
  type: string,
  { release, environment, userAgent }: ReportSource,
  facts: Facts,
): Record<string, unknown> {
  const { level, logentry, culprit, tags, url, referrer, context } = facts
  const headers: [string, string][] = []
  if (userAgent !== null) headers.push(['User-Agent', userAgent])
  if (referrer !== '') headers.push(['Referer', referrer])
  return {
    type,
    platform: 'other',
    logger: type,
    level,
    logentry,
    culprit,
    tags,
    ...(release === null ? {} : { release }),
    ...(environment === null ? {} : { environment }),
    user: { ip_address: '{{auto}}' },
    request: { ...(url === '' ? {} : { url }), headers },
    contexts: {
      [type]: Object.fromEntries(Object.entries(context).filter(([, value]) => value !== null && value !== '')),
    },
  }
}

/** Removes query, fragment and user name of a URL, which may contain input and identity of users. */
function withoutQuery(uri: string): string {
  const end = uri.search(/[?#]/)
  return (end === -1 ? uri : uri.slice(0, end)).replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

const textOf = (value: unknown, max: number): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, max).toWellFormed() : null

const numberOf = (raw: unknown): number | null => {
  const value = nearestNumber(raw)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Which events say that an app, its device or its connection is under attack (docs/protocol.md §13.1). Pure. */

/** Reports of browsers, by type of the event. Network errors (NEL) are log entries, no events. */
const REPORTS: Readonly<Record<string, SecurityKind>> = {
  csp: 'csp',
  expectct: 'expect_ct',
  expectstaple: 'expect_staple',
  hpkp: 'hpkp',
}

/** Tags that name a kind as their value. */
const NAMING_KEYS = new Set(['security', 'security_event', 'security_kind', 'security_type'])

/** Words of apps for a kind: the value of such a tag, or the key of a tag that is true. */
const WORDS: ReadonlyMap<string, SecurityKind> = new Map([
  ...['root', 'rooted', 'root_detected', 'jailbreak', 'jailbroken', 'jailbreak_detected'].map(
    (word) => [word, 'root'] as const,
  ),
  ...['tamper', 'tampered', 'tampering', 'tamper_detected', 'repackaged', 'integrity_failure'].map(
    (word) => [word, 'tamper'] as const,
  ),
  ...['debugger', 'debugger_attached', 'debugger_detected'].map((word) => [word, 'debugger'] as const),
  ...[
    'pinning',
    'pinning_failure',
    'certificate_pinning',
    'certificate_pinning_failure',
    'cert_pinning',
    'cert_pinning_failure',
    'ssl_pinning',
    'ssl_pinning_failure',
  ].map((word) => [word, 'pinning'] as const),
  ...['auth_failure', 'auth_failures', 'repeated_auth_failure', 'repeated_auth_failures', 'brute_force'].map(
    (word) => [word, 'auth_failure'] as const,
  ),
])

const TRUE = new Set(['true', '1', 'yes', 'detected', 'failed'])
/** No key or value that names a kind is longer. */
const MAX_LENGTH = 60

/** The kind of a security event; null for other events. */
export function detectSecurityKind(event: Pick<Event, 'type' | 'tags' | 'contexts'>): SecurityKind | null {
  if (Object.hasOwn(REPORTS, event.type)) return REPORTS[event.type] ?? null
  for (const { key, value } of event.tags) {
    if (key.length > MAX_LENGTH || value.length > MAX_LENGTH) continue
    const name = wordOf(key)
    if (NAMING_KEYS.has(name)) {
      const kind = WORDS.get(wordOf(value))
      if (kind !== undefined) return kind
    }
    const kind = WORDS.get(name.startsWith('security_') ? name.slice('security_'.length) : name)
    if (kind !== undefined && TRUE.has(value.toLowerCase())) return kind
  }
  return event.contexts['os']?.['rooted'] === true ? 'root' : null
}

/** `Security.Event` and `security-event` are one word. */
const wordOf = (text: string): string => text.toLowerCase().replaceAll(/[ .:-]/g, '_')
