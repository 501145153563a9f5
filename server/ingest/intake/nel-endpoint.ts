import { AppError } from '../../platform/kernel/errors.ts'
import { writeEnvelope } from '../../events/protocol/envelope.ts'
import { answerText } from './answers.ts'
import type { Endpoint } from './endpoint.ts'

const MEDIA_TYPES = new Set(['application/reports+json', 'application/json'])

/** `/nel/`: browsers report failed requests here (docs/protocol.md §13). */
export const nelEndpoint: Endpoint = {
  methods: 'POST',
  match: (path) => (path === 'nel' ? {} : null),
  maxWireBytes: 1024 * 1024,
  announcesLimits: true,
  check({ mediaType }) {
    if (!MEDIA_TYPES.has(mediaType))
      throw new AppError('unsupported_media', `Send network error reports as ${[...MEDIA_TYPES].join(' or ')}.`)
  },
  async toEnvelope(arrival) {
    return writeEnvelope({}, [{ type: 'nel', payload: await arrival.decoded() }])
  },
  accepted: (response) => answerText(response, ''),
}
