import { AppError } from '../../platform/kernel/errors.ts'
import { decodeBody } from '../../events/protocol/decode.ts'
import {
  BREADCRUMB_FILES,
  crashEvent,
  EVENT_FILE,
  readFormFields,
  type FormFields,
} from '../../events/protocol/crash-form.ts'
import { itemPayload, type RawItem } from '../../events/protocol/envelope.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { type GuardedJson, parseGuarded, writeJson } from '../../events/protocol/json-guard.ts'
import { addMinidump } from '../../events/protocol/minidump-event.ts'
import { MAX_EVENT_BYTES } from '../../events/protocol/decode-store.ts'
import { isMinidump, readMinidump, type Minidump } from '../../events/protocol/minidump.ts'
import type { ItemInput, PreparedItem, Preparer } from './item.ts'
import { prepareEventItem } from './prepare-event.ts'

/** Native crashes: events created from a minidump, or completed by one (docs/protocol.md §12). */

/** An item declared as a minidump. */
export const isMinidumpItem = ({ type, headers }: RawItem): boolean =>
  type === 'attachment' && headers.attachment_type === 'event.minidump'

/** Item types that make the event of a minidump. */
const EVENT_TYPES = new Set(['event', 'form_data'])

/** Whether the item is the envelope's first minidump and nothing else in it makes the event. */
export const makesEventOfMinidump = ({ item, items }: ItemInput): boolean =>
  isMinidumpItem(item) && items.find(isMinidumpItem) === item && !items.some(({ type }) => EVENT_TYPES.has(type))

const GZIP = Buffer.from('1f8b', 'hex')
const ZSTD = Buffer.from('28b52ffd', 'hex')

/** A minidump item's file, decompressed; unchanged when its compression is unknown or broken. */
export async function unpackedMinidump({ decoded, item }: Pick<ItemInput, 'decoded' | 'item'>): Promise<Buffer> {
  const file = itemPayload(decoded, item)
  const encoding = file.subarray(0, 2).equals(GZIP) ? 'gzip' : file.subarray(0, 4).equals(ZSTD) ? 'zstd' : null
  if (encoding === null) return file
  try {
    const unpacked = await decodeBody(file, encoding)
    return isMinidump(unpacked) ? unpacked : file
  } catch (error) {
    if (error instanceof AppError) return file
    throw error
  }
}

/** An `event` item, completed by the envelope's minidump. */
export const prepareEventOrCrash: Preparer = async (input) => {
  const dump = input.items.find(isMinidumpItem)
  if (dump === undefined) return prepareEventItem(input)
  let parsed: GuardedJson
  try {
    parsed = parseGuarded(input.decoded, input.item.start, input.item.end)
  } catch {
    // prepareEventItem returns the reason.
    return prepareEventItem(input)
  }
  const { value: event, longNumbers } = parsed
  if (!isRecord(event)) return prepareEventItem(input)
  return prepareWithDump(input, event, await unpackedMinidump({ ...input, item: dump }), longNumbers)
}

/** A `form_data` item: an event in form fields and files. */
export const prepareFormData: Preparer = async (input) => {
  let fields: FormFields
  try {
    fields = readFormFields(itemPayload(input.decoded, input.item))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [{ category: 'error', quantity: 1, outcome: 'invalid', reason: 'not_json' }]
  }
  const event = crashEvent({
    fields,
    event: fileNamed(input, EVENT_FILE),
    breadcrumbs: BREADCRUMB_FILES.flatMap((name) => fileNamed(input, name) ?? []),
  })
  const dump = input.items.find(isMinidumpItem)
  return prepareWithDump(input, event, dump === undefined ? null : await unpackedMinidump({ ...input, item: dump }))
}

function fileNamed({ items, decoded }: ItemInput, name: string): Buffer | null {
  const item = items.find(({ type, headers }) => type === 'attachment' && headers.filename === name)
  return item === undefined ? null : itemPayload(decoded, item)
}

/** Creates the event of a minidump that has none. The file is counted, the event is not. */
export async function prepareMinidumpEvent(input: ItemInput, file: Buffer): Promise<PreparedItem[]> {
  return (await prepareWithDump(input, {}, file)).map((item) => ({ ...item, quantity: 0 }))
}

/** The event's JSON with the data of the minidump. Above the size limit, most other data is left out. */
function withDump(
  event: Record<string, unknown>,
  hasFile: boolean,
  dump: Minidump | null,
  longNumbers: ReadonlySet<string>,
): Buffer {
  if (hasFile) addMinidump(event, dump)
  else event['platform'] ??= 'native'
  const json = Buffer.from(writeJson(event, longNumbers))
  if (!hasFile || json.length <= MAX_EVENT_BYTES) return json
  const { release, dist, environment, timestamp, exception } = event
  const small: Record<string, unknown> = { release, dist, environment, timestamp, exception }
  if (Buffer.byteLength(writeJson(small, longNumbers)) > MAX_EVENT_BYTES / 2) return json
  addMinidump(small, dump)
  return Buffer.from(writeJson(small, longNumbers))
}

async function prepareWithDump(
  input: ItemInput,
  event: Record<string, unknown>,
  file: Buffer | null,
  longNumbers: ReadonlySet<string> = new Set(),
): Promise<readonly PreparedItem[]> {
  const dump = file === null ? null : readMinidump(file)
  const decoded = withDump(event, file !== null, dump, longNumbers)
  const item = { ...input.item, start: 0, end: decoded.length }
  return prepareEventItem({ ...input, decoded, item, original: null })
}
