import { tidy } from './strings.ts'

/** Names of transactions and segments in rollups (docs/protocol.md §10.1, §10.2). */

export const UNLABELED = '<unlabeled transaction>'
const MAX_NAME = 200
const MAX_PARTS = 50

/** Generic names that browser SDK 11 sends for every page and navigation. */
const PAGES = new Set(['Pageload', 'Navigation'])
/** Node SDK 11 names a request without a route by its method. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

/** Whether the name does not distinguish pages or requests. */
export const isGenericName = (name: string): boolean => PAGES.has(name) || METHODS.has(name)

export type NameParts = {
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
