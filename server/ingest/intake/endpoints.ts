import { cronEndpoint } from './cron-endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { envelopeEndpoint, storeEndpoint } from './event-endpoints.ts'
import { attachmentsEndpoint, minidumpEndpoint } from './minidump-endpoint.ts'
import { nelEndpoint } from './nel-endpoint.ts'
import { otlpEndpoint } from './otlp-endpoint.ts'
import { reportDialogEndpoint } from './report-dialog.ts'
import { securityEndpoint } from './security-endpoint.ts'

/** All endpoints; the first that matches handles the request. */
const ENDPOINTS: readonly Endpoint[] = [
  envelopeEndpoint,
  storeEndpoint,
  minidumpEndpoint,
  attachmentsEndpoint,
  securityEndpoint,
  cronEndpoint,
  nelEndpoint,
  otlpEndpoint,
  reportDialogEndpoint,
]

export type MatchedEndpoint = { readonly endpoint: Endpoint; readonly params: Readonly<Record<string, string>> }

/** Finds the endpoint of a path (after `/api/<number>/`); null without one. */
export function matchEndpoint(path: string): MatchedEndpoint | null {
  for (const endpoint of ENDPOINTS) {
    const params = endpoint.match(path)
    if (params !== null) return { endpoint, params }
  }
  return null
}
