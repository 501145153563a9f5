import { UUID as Uuid, uuidv7 } from 'uuidv7'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const HEX32 = /^[0-9a-f]{32}$/

/** A new identifier of the API: UUIDv7, so that ids sort by the time of their creation. */
export const newId = (): string => uuidv7()

/** An identifier that sorts at a time in the past, for what was made elsewhere. */
export function newIdAt(at: Date): string {
  const [a = 0, b = 0, c = 0] = crypto.getRandomValues(new Uint32Array(3))
  return Uuid.fromFieldsV7(Math.max(0, at.getTime()), a >>> 20, b >>> 2, c).toString()
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A new identifier with a prefix, such as `evt_`: a UUIDv7 in 26 characters of base32, so that it sorts by time. */
export function newPrefixedId(prefix: 'evt' | 'd' | 'app'): string {
  let rest = BigInt(`0x${unhyphenate(uuidv7())}`)
  let text = ''
  for (let digit = 0; digit < 26; digit++) {
    text = BASE32.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return `${prefix}_${text}`
}

/** Whether the text has the form of {@link newPrefixedId}. */
export const isPrefixedId = (prefix: 'evt' | 'd' | 'app', text: string): boolean =>
  text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1))

/** Whether the text is a UUID in its hyphenated form, any version. */
export const isUuid = (text: string): boolean => UUID.test(text)

/**
 * An event id as we store it: 32 lower-case hex digits (docs/protocol.md §4.1 rule 11).
 * Takes the plain and the hyphenated form in either case; returns null for anything else and for the nil id.
 */
export function eventIdFrom(text: unknown): string | null {
  if (typeof text !== 'string' || text.length < 32 || text.length > 36) return null
  const id = text.replaceAll('-', '').toLowerCase()
  return HEX32.test(id) && id !== NIL_EVENT_ID ? id : null
}

const NIL_EVENT_ID = '0'.repeat(32)

/** `0123…` (32 hex) → `01234567-89ab-…`, the form of PostgreSQL's uuid type. */
export const hyphenate = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

/** The reverse of {@link hyphenate}. */
export const unhyphenate = (uuid: string): string => uuid.replaceAll('-', '')

/**
 * The organisation and project of the end-to-end test (`service/canary/`). They belong to no member: what counts or lists
 * organisations, projects or entries of the whole installation leaves them out. Fixed, so that leaving them out needs no
 * look-up.
 */
export const CANARY_ORG_ID = '00000000-0000-7000-8000-00000000ca00'
export const CANARY_PROJECT_ID = '00000000-0000-7000-8000-00000000ca01'
export const CANARY_RULE_ID = '00000000-0000-7000-8000-00000000ca02'
/** Also the id of its outbox lane. */
export const CANARY_ACTION_ID = '00000000-0000-7000-8000-00000000ca03'
/** The largest: projects of members have the numbers from 1 on. */
export const CANARY_PROJECT_NUMBER = 2_147_483_647
