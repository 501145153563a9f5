import { decodeBody } from '../protocol/decode.ts'
import { parseEnvelope } from '../protocol/envelope.ts'
import { isList, isRecord } from '../protocol/json.ts'
import type { SpoolEntry } from '../spool/entry.ts'

/**
 * Whether a request that could not be digested may be about somebody. What cannot be opened at all may: nobody can show
 * that it is not.
 */
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
      return namesUser(JSON.parse(payload.toString('utf8')), userKey)
    } catch {
      return payload.includes(userKey)
    }
  })
}

/** The items of an envelope, or the whole where it is none. */
function payloadsOf(decoded: Buffer): Buffer[] {
  try {
    const { header, items } = parseEnvelope(decoded)
    return [Buffer.from(JSON.stringify(header.fields)), ...items.map((item) => decoded.subarray(item.start, item.end))]
  } catch {
    return [decoded]
  }
}

/** Text that is the key, wherever it stands; a number only where ids stand, a small one is in every stack trace. */
export function namesUser(value: unknown, userKey: string, depth = 0, name = ''): boolean {
  if (depth > 128) return true
  if (typeof value === 'string') return value === userKey
  if (typeof value === 'number') return /^(?:id|did|user_?id|value)$/i.test(name) && String(value) === userKey
  if (isList(value)) return value.some((element) => namesUser(element, userKey, depth + 1, name))
  if (isRecord(value)) return Object.entries(value).some(([key, inner]) => namesUser(inner, userKey, depth + 1, key))
  return false
}
