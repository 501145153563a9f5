import { pathOfUrl, spanOp, withoutParameters } from '../../events/protocol/span-origin.ts'
import { textAttribute, type Span } from '../../events/protocol/span.ts'

/** Kinds of operations, and the names under which equal ones are added up. Pure. */

const OPERATIONS = ['queries', 'outgoing', 'queues', 'caches', 'resources'] as const
export type OperationKind = (typeof OPERATIONS)[number]

/** The kind of an operation; null for code and everything else. */
export function operationKind(op: string): OperationKind | null {
  if (op === 'cache' || op.startsWith('cache.')) return 'caches'
  if (op === 'db' || op.startsWith('db.') || op.startsWith('db_')) return 'queries'
  if (op === 'http.client' || op.startsWith('http.client.') || op === 'http') return 'outgoing'
  if (op === 'queue' || op.startsWith('queue.')) return 'queues'
  return op === 'resource' || op.startsWith('resource.') ? 'resources' : null
}

/** An op of each kind, for operations above the limits. */
export const KIND_OPS = {
  queries: 'db',
  outgoing: 'http.client',
  queues: 'queue',
  caches: 'cache',
  resources: 'resource',
} as const satisfies Record<OperationKind, string>

type NamedSpan = Pick<Span, 'name' | 'attributes'>

/** The op of a span; OpenTelemetry names a system or a method instead. */
export function operationOp(span: Pick<Span, 'attributes'>): string {
  const op = spanOp(span)
  if (op !== 'default') return op
  const has = (...names: readonly string[]): boolean =>
    names.some((name) => textAttribute(span.attributes, name) !== null)
  if (has('db.system', 'db.system.name')) return 'db'
  return has('http.request.method', 'http.method') ? 'http.client' : op
}

/** Longest name, and longest text that is read for one. */
export const MAX_NAME = 200
const MAX_TEXT = 2_000
const UNKNOWN = '(unknown)'
/** Pages ask their own server without naming it. */
const SAME_ORIGIN = '(same origin)'

const spanText = ({ name, attributes }: NamedSpan): string =>
  (name || (textAttribute(attributes, 'sentry.name') ?? '')).slice(0, MAX_TEXT)

/** The text that a query is named by. */
export const queryText = (span: NamedSpan): string =>
  textAttribute(span.attributes, 'db.query.text')?.slice(0, MAX_TEXT) ?? spanText(span)

/** The name under which equal operations are added up: without literals, ids and parameters. Never empty. */
export function operationName(kind: OperationKind, { name, attributes }: NamedSpan): string {
  const text = spanText({ name, attributes })
  switch (kind) {
    case 'queries':
      return withoutLiterals(queryText({ name, attributes })) || UNKNOWN
    case 'outgoing':
      return hostOf(text, attributes) || UNKNOWN
    case 'queues':
      return (
        tidy(withoutParameters((textAttribute(attributes, 'messaging.destination.name') ?? text).slice(0, MAX_TEXT))) ||
        UNKNOWN
      )
    case 'caches':
      return tidy(withoutParameters(text.replaceAll(':', '/')).replaceAll('/', ':')) || UNKNOWN
    default:
      return tidy(resourceOf(text)) || UNKNOWN
  }
}

/** Single spaces, which most texts have already, are not replaced by themselves. */
const SPACES = /\s{2,}|[^\S ]/g

const tidy = (name: string): string => name.replaceAll(SPACES, ' ').slice(0, MAX_NAME).trim()

/**
 * Each alternative either ends at its first try or takes what it read, so that a hostile statement needs linear time:
 * comments and texts need no end.
 */
const LITERALS = new RegExp(
  [
    String.raw`/\*(?:[^*]|\*(?!/))*(?:\*/)?|--[^\n]*`,
    String.raw`'(?:[^'\\]|\\[^]|'')*'?`,
    // Identifiers in PostgreSQL, texts in MySQL and in documents.
    '"[^"]*"?',
    String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
    String.raw`\b0x[0-9a-f]+\b`,
    String.raw`\b(?=[a-f]{0,40}\d)[0-9a-f]{8,128}\b`,
    String.raw`\$\d+|%s|(?<![\w.])[-+]?\d+(?:\.\d+)*(?:e[-+]?\d+)?\b`,
  ].join('|'),
  'gi',
)
const IDENTIFIER = /^"[a-z_][\w$ ]{0,62}(?:"|…|"…)?$/i

/** A statement without its values: `IN (1, 2)` and `IN (3)` are one query. Idempotent, at most 200 characters. */
export const withoutLiterals = (statement: string): string =>
  cut(
    statement
      .slice(0, MAX_TEXT)
      .replaceAll(LITERALS, (found, at: number, whole: string) => {
        if (found.startsWith('/*') || found.startsWith('--')) return ' '
        return found.startsWith('"') && isIdentifier(found, at, whole) ? found : '?'
      })
      .replaceAll(SPACES, ' ')
      .replaceAll(/\( ?\?(?: ?, ?\?)* ?\)/g, '(?)')
      .replaceAll(/\(\?\)(?: ?, ?\(\?\))+/g, '(?)')
      .trim(),
  )

/** Compared with a column it is a text, unless it is the table of another one. */
function isIdentifier(found: string, at: number, whole: string): boolean {
  if (!IDENTIFIER.test(found)) return false
  const isTable = found.endsWith('…') || /^[.…]/.test(whole.slice(at + found.length, at + found.length + 1))
  return isTable || !/[=<>] ?$/.test(whole.slice(Math.max(0, at - 2), at))
}

/** Ends before a word that does not fit, because a part of it may look like a number. */
const cut = (name: string): string =>
  name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 1).replace(/[^\s()]*$/, '')}…`

const ADDRESSES = ['url.full', 'http.url', 'url']
const HOSTS = ['server.address', 'net.host.name', 'net.peer.name']

/** The host of an outgoing request: from its address, else from its attributes. */
function hostOf(text: string, attributes: Span['attributes']): string {
  for (const one of [text, ...ADDRESSES.map((name) => textAttribute(attributes, name) ?? '')]) {
    const host = /https?:\/\/([^/?#\s@]{0,200}@)?([^/?#\s@]{1,200})/i.exec(one)?.[2]
    if (host !== undefined) return host.toLowerCase().slice(0, MAX_NAME)
  }
  const host = HOSTS.map((name) => textAttribute(attributes, name)).find((one) => one !== null)
  if (host !== undefined && host !== null) return host.toLowerCase().slice(0, MAX_NAME)
  return /^(?:[A-Z]{1,20} )?\/(?!\/)/.test(text) ? SAME_ORIGIN : ''
}

/** A resource by its host and path, without query and hashes. */
function resourceOf(text: string): string {
  const host = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1] ?? ''
  return `${host}${withoutParameters(pathOfUrl(text) ?? text)}`
}
