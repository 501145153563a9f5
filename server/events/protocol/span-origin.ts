import { browserMemory, deviceClass } from './device-signals.ts'
import { isRecord } from './json.ts'
import { Notes, tidy } from './strings.ts'
import { readEnvironment, readRelease } from './release.ts'
import { unwrapAttribute, nameText, numberAttribute, textAttribute, type Span } from './span.ts'
import { agentDevice, agentOs, deviceName, osName, type Origin } from './transaction.ts'
import { userKey } from './user.ts'

/** Attributes with the origin of a separate span; for transactions it is in the event. */

const KEPT_TEXTS = [
  'sentry.op',
  'sentry.release',
  'sentry.environment',
  'os.name',
  'device.model',
  'device.family',
  'url.path',
  'http.route',
  'http.target',
  'url.full',
  'http.request.method',
  'user.id',
  'enduser.id',
  'user.name',
  'user.email',
]

/** The texts of a span that may be stored in a rollup, for the scrubber. Only numbers are read from the rest. */
export function scrubbableSpan(span: Span): Record<string, unknown> {
  const attributes: Record<string, unknown> = {}
  for (const key of KEPT_TEXTS) {
    const value = unwrapAttribute(span.attributes, key)
    if (value !== undefined) attributes[key] = value
  }
  // With the key of a route, because `/home/feed` is no home directory.
  return {
    transaction: span.name,
    attributes,
    segment: { transaction: unwrapAttribute(span.attributes, SEGMENT_NAME) },
  }
}

const SEGMENT_NAME = 'sentry.segment.name'

/** The span with its scrubbed texts; parts that {@link scrubbableSpan} did not pick are unchanged. */
export function withScrubbed(span: Span, clean: Record<string, unknown>): Span {
  const attributes = isRecord(clean['attributes']) ? clean['attributes'] : {}
  const segment = isRecord(clean['segment']) ? clean['segment'] : {}
  return {
    ...span,
    name: nameText(clean['transaction']),
    attributes: { ...span.attributes, ...attributes, [SEGMENT_NAME]: segment['transaction'] },
  }
}

/** Defaults from the envelope. */
export type OriginDefaults = { readonly release: unknown; readonly environment: unknown; readonly fallback: string }

export function spanOrigin({ attributes }: Span, defaults: OriginDefaults): Origin {
  const notes = new Notes()
  const memory = numberAttribute(attributes, 'device.memory_size')
  const estimated = browserMemory(unwrapAttribute(attributes, 'device.memory.estimated_capacity'))
  const os = textAttribute(attributes, 'os.name')
  const agent = isServer(attributes) ? null : textAttribute(attributes, 'user_agent.original')
  return {
    release: readRelease(textAttribute(attributes, 'sentry.release') ?? defaults.release, notes) ?? '',
    environment:
      readEnvironment(textAttribute(attributes, 'sentry.environment') ?? defaults.environment, notes) ??
      defaults.fallback,
    os: osName(os ?? agentOs(agent)),
    deviceClass: deviceClass(memory ?? estimated, numberAttribute(attributes, 'device.processor_count')),
    device:
      deviceName(textAttribute(attributes, 'device.model'), textAttribute(attributes, 'device.family')) ||
      agentDevice(agent),
  }
}

/** By which the user of a segment is counted; null where it names none. */
export const spanUserKey = ({ attributes }: Span): string | null =>
  userKey({
    id: textAttribute(attributes, 'user.id') ?? textAttribute(attributes, 'enduser.id'),
    username: textAttribute(attributes, 'user.name'),
    email: textAttribute(attributes, 'user.email'),
  })

/** A server sends its visitor's browser, whose system is not where the time was spent. */
const isServer = (attributes: Span['attributes']): boolean =>
  textAttribute(attributes, 'sentry.kind') === 'server' ||
  textAttribute(attributes, 'sentry.op') === 'http.server' ||
  textAttribute(attributes, 'process.runtime.name') !== null ||
  textAttribute(attributes, 'process.runtime.engine.name') !== null

const BY_KIND = new Map([
  ['server', 'http.server'],
  ['consumer', 'queue.process'],
  ['producer', 'queue.publish'],
])
const MAX_OP = 64

/** The operation of a span; for OpenTelemetry by its kind. */
export function spanOp({ attributes }: Pick<Span, 'attributes'>): string {
  const op = nameText(unwrapAttribute(attributes, 'sentry.op')).replaceAll(/\s+/g, ' ')
  if (op !== '') return op.slice(0, MAX_OP)
  return BY_KIND.get(textAttribute(attributes, 'sentry.kind') ?? '') ?? 'default'
}

/** The name of a segment. */
export function segmentName(segment: Span): string {
  const { attributes } = segment
  const path = textAttribute(attributes, 'url.path') ?? pathOfUrl(textAttribute(attributes, 'url.full'))
  return displayName({ name: segment.name, source: textAttribute(attributes, 'sentry.segment.name.source'), path })
}

/** The segment of a span, by the span's attributes: its id, and its name if that is not generic. */
export function spanSegment(span: Span): {
  readonly spanId: string
  readonly name: string
  readonly isGeneric: boolean
} {
  const { attributes } = span
  const spanId =
    textAttribute(attributes, 'sentry.pageload.span_id') ??
    textAttribute(attributes, 'sentry.segment.id') ??
    span.parentSpanId
  const name = nameText(unwrapAttribute(attributes, SEGMENT_NAME))
  const path = textAttribute(attributes, 'url.path')
  return {
    spanId: spanId ?? span.spanId,
    // Old SDKs send the page of a web vital as URL; the source in the span belongs to its own name.
    name: displayName({ name, source: name.startsWith('/') ? 'url' : null, path }),
    isGeneric: name === '' || (isGenericName(name) && path === null),
  }
}

/** Names of transactions and segments in rollups (docs/protocol.md §10.1, §10.2). */

export const UNLABELED = '<unlabeled transaction>'
const MAX_NAME = 200
const MAX_PARTS = 50

/** Generic names that browser SDK 11 sends for every page and navigation. */
const PAGES = new Set(['Pageload', 'Navigation'])
/** Node SDK 11 names a request without a route by its method. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

/** Whether the name does not distinguish pages or requests. */
const isGenericName = (name: string): boolean => PAGES.has(name) || METHODS.has(name)

type NameParts = {
  readonly name: string
  /** `transaction_info.source` or `sentry.segment.name.source`; null when missing. */
  readonly source: string | null
  /** Path of the page or request; null when it is not known. */
  readonly path: string | null
}

/** The name for display and rollups: never empty, one line, at most 200 characters. */
export function displayName({ name, source, path }: NameParts): string {
  if (name === '') return UNLABELED
  const isGeneric = isGenericName(name) && path !== null && source !== 'custom' && source !== 'route'
  const full = !isGeneric ? name : PAGES.has(name) ? path : `${name} ${path}`
  const hasParameters =
    isGeneric || source === 'url' || ((source ?? 'unknown') === 'unknown' && LOOKS_LIKE_PATH.test(name))
  const shown = hasParameters ? withoutParameters(full) : full
  return tidy(shown.replaceAll(/\s+/g, ' ').trim(), MAX_NAME) || UNLABELED
}

/** Path of a URL, for pages that send no path; null when it is no URL. */
export function pathOfUrl(url: string | null): string | null {
  if (url === null || url.length > 8_192) return null
  const found = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(\/[^?#]*)?/i.exec(url)
  return found === null ? null : (found[1] ?? '/')
}

const LOOKS_LIKE_PATH = /^(?:[A-Z]{3,7} )?(?:\/|https?:\/\/)/

/** Removes parameters: `GET /users/42?page=2` → `GET /users/*`. */
export function withoutParameters(name: string): string {
  const space = name.indexOf(' ')
  const method = space > 0 && METHODS.has(name.slice(0, space)) ? name.slice(0, space + 1) : ''
  const path = name.slice(method.length).replace(/[?#].*$/s, '')
  const parts = (pathOfUrl(path) ?? path).split('/')
  // Longer paths are no routes; the rest would only create more names.
  const kept = parts.slice(0, MAX_PARTS).map((part) => (isParameter(part) ? '*' : part))
  return method + kept.join('/')
}

const PARAMETER = new RegExp(
  [
    String.raw`^[-+]?\d+(?:[.,]\d+)*$`,
    // UUIDs, also inside a longer part.
    '[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}',
    // Hashes: hex with a digit, or 0x and hex.
    String.raw`(?:^|[^0-9a-z])(?=[a-f]*\d)[0-9a-f]{7,128}(?:[^0-9a-z]|$)`,
    '0x[0-9a-f]{2,}',
    // Dates and any other number longer than a version's.
    String.raw`\d{3,}`,
    // E-mail addresses.
    '%40|@',
  ].join('|'),
  'i',
)
/** A token of letters and digits too long for a word. */
const TOKEN = /^(?=.*\d)(?=.*[a-z])[\w=.%~-]{20,}$/i
const MAX_PART = 100

const isParameter = (part: string): boolean => part.length > MAX_PART || PARAMETER.test(part) || TOKEN.test(part)
