import { type AppError, invalid, unauthenticated } from '../../platform/kernel/errors.ts'

/** The newest protocol version. */
const NEWEST_VERSION = 7

type ClientAuth = {
  /** The project's public key, 32 lower-case hex digits. */
  readonly key: string
  /** Name and version of the client, such as `sentry.python/2.68.0`. */
  readonly client: string | null
}

/** Places of a client's key. {@link checkDsn} checks the envelope's `dsn` after its first line is read. */
type AuthPlaces = {
  readonly xSentryAuth?: string | undefined
  readonly authorization?: string | undefined
  /** The query string, not decoded. */
  readonly query?: string | undefined
  /** Path segment of the cron and unreal endpoints. */
  readonly pathKey?: string | undefined
}

type Found = { key: string; version: string | null; client: string | null }

/**
 * Finds the key of a request (docs/protocol.md §2) in header, query and path, in this order. Several places may have the
 * same key.
 * @returns null when there is none; an envelope may have it in its `dsn`
 * @throws AppError `invalid` for a malformed key, two different keys, or a protocol version above 7
 */
export function readAuth(places: AuthPlaces): ClientAuth | null {
  let first: Found | null = null
  for (const found of candidates(places)) {
    if (!isPublicKey(found.key)) throw invalid('sentry_key is malformed: it must be 32 lower-case hex digits.')
    if (first !== null && first.key !== found.key) throw invalid('The request has two different keys.')
    if (found.version !== null && !isKnownVersion(found.version))
      throw invalid(`sentry_version must be a number up to ${NEWEST_VERSION}.`)
    first ??= found
  }
  return first === null ? null : { key: first.key, client: first.client }
}

/** 401 for a request without a key. */
export const noKey = (): AppError =>
  unauthenticated('The request has no key: send X-Sentry-Auth, or sentry_key in the query.')

/** Whether the text has the form of a public key. */
const isPublicKey = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

function candidates(places: AuthPlaces): Found[] {
  const found: Found[] = []
  if (places.xSentryAuth !== undefined) collectPairs(places.xSentryAuth, found)
  if (places.authorization !== undefined) collectAuthorization(places.authorization, found)
  if (places.query !== undefined && places.query !== '') collectQuery(places.query, found)
  if (places.pathKey !== undefined) found.push({ key: places.pathKey, version: null, client: null })
  return found
}

/**
 * `Sentry sentry_key=K, sentry_version=7, …`: scheme in any case, spaces around commas optional, any order, values
 * may be percent-encoded. A header sent twice arrives joined by a comma, scheme word included.
 */
function collectPairs(header: string, found: Found[]): void {
  let key: string | null = null
  let version: string | null = null
  let client: string | null = null
  const text = /%20|%3d|%2c/i.test(header) ? decoded(header) : header
  for (const part of text.split(',')) {
    const pair = part.trim().replace(/^sentry\s+/i, '')
    const equals = pair.indexOf('=')
    if (equals === -1) continue
    const name = pair.slice(0, equals).trim()
    const value = decoded(pair.slice(equals + 1).trim())
    if (name === 'sentry_key') {
      if (key !== null && key !== value) found.push({ key, version, client })
      key = value
    } else if (name === 'sentry_version') version = value
    else if (name === 'sentry_client') client = value
  }
  if (key !== null) found.push({ key, version, client })
}

/** The header may also have credentials of a proxy; values without a key of ours are ignored. */
function collectAuthorization(header: string, found: Found[]): void {
  if (/^sentry\s/i.test(header)) return collectPairs(header, found)
  const basic = /^basic\s+([A-Za-z0-9+/_=-]{1,400})$/i.exec(header.trim())
  if (basic?.[1] === undefined) return
  const user = Buffer.from(basic[1], 'base64').toString('latin1').split(':', 1)[0] ?? ''
  if (isPublicKey(user)) found.push({ key: user, version: null, client: null })
}

function collectQuery(query: string, found: Found[]): void {
  let version: string | null = null
  let client: string | null = null
  const keys: string[] = []
  for (const pair of query.split('&')) {
    // sentry_data of a GET may be long; only its name is read.
    if (!pair.startsWith('sentry_')) continue
    const equals = pair.indexOf('=')
    if (equals === -1) continue
    const name = pair.slice(0, equals)
    if (name === 'sentry_key') keys.push(decoded(pair.slice(equals + 1)))
    else if (name === 'sentry_version') version = decoded(pair.slice(equals + 1))
    else if (name === 'sentry_client') client = decoded(pair.slice(equals + 1))
  }
  for (const key of keys) found.push({ key, version, client })
}

function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const isKnownVersion = (version: string): boolean =>
  /^\d{1,4}(\.\d{1,4})?$/.test(version) && Number(version) <= NEWEST_VERSION

export type Dsn = { readonly publicKey: string; readonly projectNumber: string }

/**
 * Parses a DSN: `{scheme}://{public_key}[:{secret}]@{host}[:{port}][/{base_path}]/{project_id}`.
 * Only key and project are used, because tunnels and proxies change host and port.
 * @throws AppError `invalid` when the text is no DSN
 */
export function parseDsn(text: string): Dsn {
  const match =
    text.length > 2048 ? null : /^[a-z][a-z0-9+.-]*:\/\/([^:@/?#]+)(?::[^@/?#]*)?@([^?#@]+)$/i.exec(text.trim())
  const path = match?.[2]?.replace(/\/$/, '') ?? ''
  const slash = path.lastIndexOf('/')
  const projectNumber = path.slice(slash + 1)
  const publicKey = match?.[1] ?? ''
  if (slash <= 0 || !/^\d{1,20}$/.test(projectNumber) || !isPublicKey(publicKey))
    throw invalid('dsn in the envelope header is malformed.')
  return { publicKey, projectNumber }
}

/**
 * Compares the `dsn` of an envelope header with the request.
 * @param key the key of the request; null when only the DSN may have one
 * @param projectNumber from the path
 * @returns the key
 * @throws AppError `invalid` for another key or project, `unauthenticated` when there is no key at all
 */
export function checkDsn(dsn: string | null, key: string | null, projectNumber: string): string {
  if (dsn === null) {
    if (key === null) throw noKey()
    return key
  }
  const parsed = parseDsn(dsn)
  if (key !== null && parsed.publicKey !== key)
    throw invalid('dsn in the envelope header has another key than the request.')
  if (parsed.projectNumber !== projectNumber)
    throw invalid('dsn in the envelope header has another project than the path.')
  return parsed.publicKey
}
