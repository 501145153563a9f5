import { invalid } from '../../platform/kernel/errors.ts'
import { answerAccepted, answerPixel } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { takeStore } from './take-items.ts'

/** `/envelope/`: the requests of SDKs. */
export const envelopeEndpoint: Endpoint = {
  methods: 'POST',
  match: (path) => (path === 'envelope' ? {} : null),
  hasKeyInBody: true,
  announcesLimits: true,
  accepted: (response, _arrival, { eventId, announced }) => answerAccepted(response, eventId, announced),
}

/** `/store/`: one event, as JSON or form; in the URL of an image, too. */
export const storeEndpoint: Endpoint = {
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
