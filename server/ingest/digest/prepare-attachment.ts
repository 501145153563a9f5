import {
  cleanAttachmentType,
  cleanContentType,
  cleanFilename,
  MAX_ATTACHMENT_BYTES,
  RAW_TYPES,
  type Attachment,
} from '../../events/attachments/attachment.ts'
import type { Refusal } from '../../events/attachments/attachments.api.ts'
import { packContent } from '../../platform/blobs/pack-content.ts'
import { newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { isEventPart } from '../../events/protocol/crash-form.ts'
import { itemPayload, makesEvent, itemCategory } from '../../events/protocol/envelope.ts'
import { scrubEvent } from '../../events/protocol/scrub.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { parseGuarded, writeJson } from '../../events/protocol/json-guard.ts'
import type { Counted } from '../../events/items/recorder.ts'
import type { DropReason } from '../outcomes/dropped-items.ts'
import type { ItemInput, PreparedItem, Preparer } from './item.ts'
import { isMinidumpItem, makesEventOfMinidump, prepareMinidumpEvent, unpackedMinidump } from './prepare-crash.ts'

/** A reference to an upload API that we do not offer (docs/protocol.md §11.4); there is no file. */
const PLACEHOLDER = 'application/vnd.sentry.attachment-ref+json'
/** Belongs to a trace and not to an event. */
const OF_A_TRACE = 'application/vnd.sentry.trace-attachment'

const ONE: Counted = { category: 'attachment', quantity: 1 }

/** An `attachment` item: a file; a minidump without an event also becomes an event. */
export const prepareAttachment: Preparer = async (input) => {
  const { headers } = input.item
  const contentType = cleanContentType(headers.content_type)
  if (contentType === PLACEHOLDER)
    return [{ ...ONE, outcome: 'discarded', reason: 'placeholder' }, ...refusedFile(input, 'upload')]
  if (contentType === OF_A_TRACE) return [{ ...ONE, outcome: 'discarded', reason: 'unsupported' }]
  // Its content is in the event; the file is not scrubbed and not stored.
  if (isEventPart(headers.filename)) return [{ ...ONE, outcome: 'discarded', reason: 'part_of_event' }]
  const makesEvent = makesEventOfMinidump(input)
  const eventId = input.eventId ?? (makesEvent ? unhyphenate(newId()) : null)
  if (eventId === null) return [{ ...ONE, outcome: 'invalid', reason: 'no_event_id' }]
  const minidump = isMinidumpItem(input.item)
  const content = minidump ? await unpackedMinidump(input) : itemPayload(input.decoded, input.item)
  const fact: Attachment = {
    eventId,
    filename: scrubbedName(input),
    contentType,
    attachmentType: cleanAttachmentType(headers.attachment_type),
    content: await packContent(content),
  }
  const file: PreparedItem = { ...ONE, kind: 'attachment', fact }
  return makesEvent ? [file, ...(await prepareMinidumpEvent({ ...input, eventId }, content))] : [file]
}

/**
 * The file that was refused, for its event; none without an event, or where the event was refused as well.
 * @param reason of the intake
 */
export function prepareDroppedAttachment(input: ItemInput, reason: DropReason): readonly PreparedItem[] {
  const { items, entry } = input
  const isOfDroppedEvent = entry.dropped.some(({ index }) => {
    const type = items[index]?.type
    return type !== undefined && makesEvent(type)
  })
  if (isOfDroppedEvent || isEventPart(input.item.headers.filename)) return []
  if (reason !== 'too_large') return refusedFile(input, 'rate_limited')
  return refusedFile(input, sizeOf(input) > MAX_ATTACHMENT_BYTES ? 'too_large' : 'too_many')
}

/** A part of an item that is counted with its outcome. */
function refusedFile(input: ItemInput, refusal: Refusal): readonly PreparedItem[] {
  const { headers } = input.item
  if (input.eventId === null) return []
  const fact = {
    eventId: input.eventId,
    filename: scrubbedName(input),
    contentType: cleanContentType(headers.content_type),
    attachmentType: cleanAttachmentType(headers.attachment_type),
    sizeBytes: sizeOf(input),
    refusal,
  }
  return [{ category: ONE.category, quantity: 0, kind: 'refused_file', fact }]
}

/** The intake sends on the size of a file without its content; a placeholder announces it. */
function sizeOf({ item }: ItemInput): number {
  const { refused_length: refused, attachment_length: announced } = item.headers
  const size = item.end - item.start
  const claimed = size === 0 ? (refused ?? announced) : announced
  return typeof claimed === 'number' && Number.isSafeInteger(claimed) && claimed > 0 ? claimed : size
}

/** File names may hold personal data. */
function scrubbedName({ item, project }: ItemInput): string {
  const named: Record<string, unknown> = { name: cleanFilename(item.headers.filename) }
  scrubEvent(named, project.scrubbing)
  return cleanFilename(named['name'])
}

/** Profiles and replays: files of the event, profiler or replay that they name, if the project stores them. */
export const prepareRaw: Preparer = async (input) => {
  const { item, project } = input
  const counted: Counted = { category: itemCategory(item.type), quantity: 1 }
  const setting = RAW_TYPES.get(item.type)
  if (setting === undefined || !project[setting]) return [{ ...counted, outcome: 'discarded', reason: 'unsupported' }]
  const payload = item.type === 'replay_event' ? scrubbedJson(input) : itemPayload(input.decoded, item)
  if (payload === null) return [{ ...counted, outcome: 'invalid', reason: 'not_json' }]
  const fact: Attachment = {
    eventId: input.eventId ?? unhyphenate(newId()),
    filename: `${item.type}${item.type === 'replay_recording' || item.type === 'replay_video' ? '.bin' : '.json'}`,
    contentType: cleanContentType(item.headers.content_type),
    attachmentType: item.type,
    content: await packContent(payload),
  }
  return [{ ...counted, kind: 'attachment', fact }]
}

function scrubbedJson({ decoded, item, project }: ItemInput): Buffer | null {
  try {
    const { value, longNumbers } = parseGuarded(decoded, item.start, item.end)
    if (!isRecord(value)) return null
    scrubEvent(value, project.scrubbing)
    return Buffer.from(writeJson(value, longNumbers))
  } catch {
    return null
  }
}
