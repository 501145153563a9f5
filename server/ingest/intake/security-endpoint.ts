import { AppError } from '../../platform/kernel/errors.ts'
import { writeEnvelope } from '../../events/protocol/envelope.ts'
import { answerText } from './answers.ts'
import type { Endpoint } from './endpoint.ts'

const MEDIA_TYPES = new Set([
  'application/csp-report',
  'application/json',
  'application/reports+json',
  'application/expect-ct-report',
  'application/expect-ct-report+json',
  'application/expect-staple-report',
])

/** `/security/` and `/csp-report/`: reports that browsers send when a page violates its policy (docs/protocol.md §13). */
export const securityEndpoint: Endpoint = {
  methods: 'POST',
  match: (path) => (path === 'security' || path === 'csp-report' ? {} : null),
  maxWireBytes: 1024 * 1024,
  announcesLimits: true,
  check({ mediaType }) {
    if (MEDIA_TYPES.has(mediaType)) return
    const types = [...MEDIA_TYPES].slice(0, 3).join(', ')
    throw new AppError('unsupported_media', `Security reports have a media type such as ${types}.`)
  },
  async toEnvelope(arrival) {
    const headers: Record<string, string> = { content_type: arrival.mediaType }
    const query = new URLSearchParams(arrival.query)
    for (const name of ['sentry_release', 'sentry_environment']) {
      const value = query.get(name)
      if (value !== null && value !== '') headers[name] = value.slice(0, 250)
    }
    return writeEnvelope({}, [{ type: 'raw_security', headers, payload: await arrival.decoded() }])
  },
  accepted: (response) => answerText(response, ''),
}

const NEL_MEDIA_TYPES = new Set(['application/reports+json', 'application/json'])

/** `/nel/`: browsers report failed requests here (docs/protocol.md §13). */
export const nelEndpoint: Endpoint = {
  methods: 'POST',
  match: (path) => (path === 'nel' ? {} : null),
  maxWireBytes: 1024 * 1024,
  announcesLimits: true,
  check({ mediaType }) {
    if (!NEL_MEDIA_TYPES.has(mediaType))
      throw new AppError('unsupported_media', `Send network error reports as ${[...NEL_MEDIA_TYPES].join(' or ')}.`)
  },
  async toEnvelope(arrival) {
    return writeEnvelope({}, [{ type: 'nel', payload: await arrival.decoded() }])
  },
  accepted: (response) => answerText(response, ''),
}
