import { eventIdFrom, hyphenate, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { invalid, unavailable } from '../../platform/kernel/errors.ts'
import { crashEventId, EVENT_FILE } from '../../events/protocol/crash-form.ts'
import { isMinidump } from '../../events/protocol/minidump.ts'
import { writeEnvelope, type NewItem } from '../../events/protocol/envelope.ts'
import { answerAccepted, answerError, answerText } from './answers.ts'
import type { Arrival, Endpoint } from './endpoint.ts'
import { readMultipart, type FilePart } from './read-multipart.ts'

const MIB = 1024 * 1024
const MINIDUMP_FIELD = 'upload_file_minidump'

/**
 * `/minidump/`: crash uploaders post a minidump, or a form with a minidump and further fields (docs/protocol.md §12).
 * They expect the event's id as text, and retry for ever on 429.
 */
export const minidumpEndpoint: Endpoint = {
  methods: 'POST',
  match: (path) => (path === 'minidump' ? {} : null),
  maxWireBytes: 100 * MIB,
  maxAttachmentBytes: 100 * MIB,
  bodyTimeoutMs: 600_000,
  announcesLimits: false,
  async toEnvelope(arrival) {
    if (arrival.mediaType.startsWith('multipart/')) return fromForm(arrival)
    const content = await arrival.decoded()
    if (content.length === 0) throw invalid('The request holds no minidump.')
    const file = { field: MINIDUMP_FIELD, filename: 'minidump.dmp', contentType: 'application/x-dmp', content }
    return envelopeOf(unhyphenate(newId()), [], file, [])
  },
  accepted: (response, _arrival, { eventId }) => answerText(response, eventId === null ? '' : hyphenate(eventId)),
  refused: (response, _arrival, error) =>
    answerError(response, error.code === 'rate_limited' ? unavailable(error.message) : error),
}

async function fromForm(arrival: Arrival): Promise<Buffer> {
  const { fields, files } = await readMultipart(await arrival.decoded(), arrival.headers['content-type'] ?? '')
  const minidump =
    files.find(({ field }) => field === MINIDUMP_FIELD) ?? files.find(({ content }) => isMinidump(content))
  if (minidump === undefined) throw invalid(`The form has no file ${MINIDUMP_FIELD}.`)
  const event = files.find(({ field, filename }) => field === EVENT_FILE || filename === EVENT_FILE)
  const eventId = crashEventId(fields, event?.content ?? null) ?? unhyphenate(newId())
  return envelopeOf(
    eventId,
    fields,
    minidump,
    files.filter((file) => file !== minidump),
  )
}

function envelopeOf(
  eventId: string,
  fields: readonly (readonly [string, string])[],
  minidump: FilePart,
  others: readonly FilePart[],
): Buffer {
  return writeEnvelope({ event_id: eventId }, [
    { type: 'form_data', payload: JSON.stringify(fields) },
    attachmentItem(minidump, 'event.minidump'),
    ...others.map((file) => attachmentItem(file, 'event.attachment')),
  ])
}

const attachmentItem = (file: FilePart, attachmentType: string): NewItem => ({
  type: 'attachment',
  headers: {
    // Event parts are recognised by their field name, because some uploaders send no file name.
    filename: (file.field.startsWith('__sentry') ? file.field : file.filename || file.field).slice(0, 1_000),
    content_type: file.contentType.slice(0, 300),
    attachment_type: attachmentType,
  },
  payload: file.content,
})

/** `/events/{event_id}/attachments/`: files for an event that was sent before or will be sent later. */
export const attachmentsEndpoint: Endpoint = {
  methods: 'POST',
  match(path) {
    const [, id] = /^events\/([0-9a-fA-F-]{32,36})\/attachments$/.exec(path) ?? []
    const eventId = eventIdFrom(id)
    return eventId === null ? null : { eventId }
  },
  maxWireBytes: 100 * MIB,
  maxAttachmentBytes: 100 * MIB,
  bodyTimeoutMs: 600_000,
  announcesLimits: true,
  async toEnvelope(arrival) {
    const { files } = await readMultipart(await arrival.decoded(), arrival.headers['content-type'] ?? '')
    if (files.length === 0) throw invalid('The form has no file.')
    return writeEnvelope(
      { event_id: arrival.params.eventId ?? null },
      files.map((file) => attachmentItem(file, 'event.attachment')),
    )
  },
  accepted: (response, { params }) => answerAccepted(response, params.eventId ?? null),
}
