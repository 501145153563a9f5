import type { IncomingHttpHeaders } from 'node:http'
import { forbidden } from '../../platform/kernel/errors.ts'

/**
 * Refuses calls that another site made a browser send (the rule of Go's CrossOriginProtection): `Sec-Fetch-Site` decides
 * when present, else `Origin` or `Referer` must be allowed. A caller that sends none of them is not a browser.
 * @param origins our origin and those of ALLOWED_ORIGINS
 * @throws AppError forbidden
 */
export function checkCrossSite(headers: IncomingHttpHeaders, origins: readonly string[]): void {
  const origin = headers.origin
  const site = headers['sec-fetch-site']
  if (typeof site === 'string') {
    if (site === 'same-origin' || site === 'none') return
    if (origin !== undefined && origins.includes(origin)) return
    throw forbidden('This call came from another site. Open the dashboard at its own address and try again.')
  }
  const claimed = origin ?? originOf(headers.referer)
  if (claimed === null || claimed === undefined || origins.includes(claimed)) return
  throw forbidden(
    'This call came from another site. Open the dashboard at its own address, or list that origin in ALLOWED_ORIGINS.',
  )
}

function originOf(referer: string | undefined): string | null {
  if (referer === undefined) return null
  return URL.canParse(referer) ? new URL(referer).origin : 'null'
}
