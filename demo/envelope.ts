import { createHash } from 'node:crypto'

/** Requests as SDKs send them, of values that depend on names alone: two runs of a story send the same. */

/** A number from 0 to 1. */
export const chance = (name: string): number => createHash('md5').update(name).digest().readUInt32BE(0) / 0xffffffff
/** 32 hex digits, as ids of events and traces have. */
export const hex = (name: string): string => createHash('md5').update(name).digest('hex')

/** Headers and payload of one item of an envelope. */
export type EnvelopeItem = readonly [headers: object, payload: string | Buffer]

/** @param id of the event that the items belong to */
export function envelope(sentMs: number, id: string | null, items: readonly EnvelopeItem[]): Buffer {
  const head = { ...(id === null ? {} : { event_id: id }), sent_at: new Date(sentMs).toISOString() }
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(head)}\n`),
    ...items.flatMap(([headers, payload]) => [
      Buffer.from(`${JSON.stringify({ ...headers, length: Buffer.byteLength(payload) })}\n`),
      Buffer.from(payload),
      Buffer.from('\n'),
    ]),
  ])
}
