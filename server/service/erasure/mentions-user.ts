import { decodeBody } from '../../events/protocol/decode.ts'
import { parseEnvelope } from '../../events/protocol/envelope.ts'
import { isList, isRecord } from '../../events/protocol/json.ts'
import { parseUnguarded } from '../../events/protocol/json-guard.ts'
import type { SpoolEntry } from '../../ingest/spool/entry.ts'

/** Whether a quarantined request may hold data of a user. True for a request that cannot be decoded. */
export async function mentionsUser(entry: SpoolEntry, userKey: string): Promise<boolean> {
  let decoded: Buffer
  try {
    decoded = await decodeBody(entry.body, entry.encoding)
  } catch {
    return true
  }
  if (entry.clientIp === userKey) return true
  return payloadsOf(decoded).some((payload) => {
    try {
      return namesUser(parseUnguarded(payload.toString('utf8')), userKey)
    } catch {
      return payload.includes(userKey)
    }
  })
}

/** The payloads of an envelope; the whole body when it is not an envelope. */
function payloadsOf(decoded: Buffer): Buffer[] {
  try {
    const { items } = parseEnvelope(decoded)
    const header = decoded.subarray(0, items[0]?.headerStart)
    return [header, ...items.map((item) => decoded.subarray(item.start, item.end))]
  } catch {
    return [decoded]
  }
}

/** Whether a text equals the key anywhere, or a number in a field of ids: small numbers are in every stack trace. */
export function namesUser(value: unknown, userKey: string, depth = 0, name = ''): boolean {
  if (depth > 128) return true
  if (typeof value === 'string') return value === userKey
  if (typeof value === 'number') return /^(?:id|did|user_?id|value)$/i.test(name) && String(value) === userKey
  if (isList(value)) return value.some((element) => namesUser(element, userKey, depth + 1, name))
  if (isRecord(value)) return Object.entries(value).some(([key, inner]) => namesUser(inner, userKey, depth + 1, key))
  return false
}
