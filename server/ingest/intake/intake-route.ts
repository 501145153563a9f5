import { parseDsn } from '../../events/protocol/sentry-auth.ts'

/** The URL of an SDK request: everything under `/api/<digits>/`, digits other than 0 (docs/protocol.md §1.2). */
export type IntakeRoute = {
  /** As in the path; null for the very old `/api/store/`, where the key determines the project. */
  readonly projectNumber: string | null
  /** The path after the number, without slashes around it; for example `envelope`. */
  readonly endpoint: string
  /** The query string, not decoded. */
  readonly query: string
}

const PLAIN = /^\/api\/(?:([1-9]\d{0,19})(?:\/([^?]*))?|(store)\/?)(?:\?|$)/
/** A DSN may carry a base path that a reverse proxy did not strip. */
const BASED =
  /^\/(?!api\/)[^?]*?\/api\/(?:([1-9]\d{0,19})\/((?:envelope|store|security|csp-report|nel|minidump|events|cron|integration|otlp)(?:\/[^?]*)?)|(store)\/?)(?:\?|$)/

/** The form of a browser SDK, which has its DSN in the query. */
const DIALOG = /^(?:\/(?!api\/)[^?]*?)?\/api\/embed\/error-page\/?(?:\?|$)/

/** Recognises SDK traffic by the URL; null for the product API. */
export function matchIntake(url: string): IntakeRoute | null {
  if (url.includes('/api/embed/') && DIALOG.test(url)) return dialogRoute(url)
  const match = PLAIN.exec(url) ?? (url.startsWith('/api/') ? null : BASED.exec(url))
  if (match === null) return null
  const mark = url.indexOf('?')
  return {
    projectNumber: match[1] ?? null,
    endpoint: match[3] ?? (match[2] ?? '').replace(/\/$/, ''),
    query: mark === -1 ? '' : url.slice(mark + 1),
  }
}

/** Without a valid DSN the route has no key and is refused like any other request without one. */
function dialogRoute(url: string): IntakeRoute {
  const mark = url.indexOf('?')
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const route = { projectNumber: null, endpoint: 'embed/error-page', query }
  const dsn = new URLSearchParams(query).get('dsn')
  if (dsn === null) return route
  try {
    const { publicKey, projectNumber } = parseDsn(dsn)
    return { ...route, projectNumber, endpoint: `${route.endpoint}/${publicKey}` }
  } catch {
    return route
  }
}
