import { cronEndpoint } from './cron-endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { attachmentsEndpoint, minidumpEndpoint } from './minidump-endpoint.ts'
import { otlpEndpoint } from './otlp-endpoint.ts'
import { reportDialogEndpoint } from './report-dialog.ts'
import { securityEndpoint, nelEndpoint } from './security-endpoint.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { answerAccepted, answerPixel } from './answers.ts'
import { takeStore } from './take-items.ts'

/** `/envelope/`: the requests of SDKs. */
const envelopeEndpoint: Endpoint = {
  methods: 'POST',
  match: (path) => (path === 'envelope' ? {} : null),
  hasKeyInBody: true,
  announcesLimits: true,
  accepted: (response, _arrival, { eventId, announced }) => answerAccepted(response, eventId, announced),
}

/** `/store/`: one event, as JSON or form; in the URL of an image, too. */
const storeEndpoint: Endpoint = {
  methods: 'POST, GET',
  match: (path) => (path === 'store' ? {} : null),
  announcesLimits: true,
  bodyInUrl({ method, query }) {
    if (method !== 'GET') return null
    const field = query.split('&').find((pair) => pair.startsWith('sentry_data='))
    if (field === undefined) throw invalid('A GET request must have the event in the parameter sentry_data.')
    return Buffer.from(field)
  },
  take: takeStore,
  accepted: (response, { method }, { eventId }) =>
    method === 'GET' ? answerPixel(response) : answerAccepted(response, eventId),
}

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

type MatchedEndpoint = { readonly endpoint: Endpoint; readonly params: Readonly<Record<string, string>> }

/** Finds the endpoint of a path (after `/api/<number>/`); null without one. */
export function matchEndpoint(path: string): MatchedEndpoint | null {
  for (const endpoint of ENDPOINTS) {
    const params = endpoint.match(path)
    if (params !== null) return { endpoint, params }
  }
  return null
}
