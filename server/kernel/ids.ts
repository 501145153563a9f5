import { uuidv7 } from 'uuidv7'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const HEX32 = /^[0-9a-f]{32}$/

/** A new identifier of the API: UUIDv7, so that ids sort by the time of their creation. */
export const newId = (): string => uuidv7()

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
