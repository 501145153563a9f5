import { z } from 'zod'
import { CONTENT_ENCODINGS, type ContentEncoding } from '../../platform/kernel/inflate.ts'

/** An accepted request that waits for digestion. */
export type SpoolEntry = {
  readonly projectId: string
  /** The number in the DSN; determines shard and part. */
  readonly projectNumber: number
  /** The project key of the request (project_keys.id). */
  readonly keyId: string
  readonly receivedAtMs: number
  /** `store` holds one event, perhaps wrapped in base64 or a form; `envelope` the envelope grammar. */
  readonly endpoint: 'envelope' | 'store'
  /** How `body` is compressed. */
  readonly encoding: ContentEncoding
  readonly clientIp: string | null
  readonly userAgent: string | null
  /** The Origin header of a browser. */
  readonly origin: string | null
  /** Name and version of the SDK, from its authentication. */
  readonly sdkClient: string | null
  /** The event id in the response, 32 hex digits; null when the request had no event. */
  readonly eventId: string | null
  /** Items over a limit: digestion skips them and records their outcome. */
  readonly dropped: readonly DroppedItem[]
  /** From an import: with its old time of receipt, and no one hears of it. */
  readonly isImported?: boolean
  /** The body as received. */
  readonly body: Buffer
}

export type DroppedItem = {
  /** Position in the envelope, from 0. */
  readonly index: number
  readonly reason: (typeof DROP_REASONS)[number]
}

/**
 * Each shard is digested by one process at a time. It holds whole projects, so that a project's events are digested in the
 * order of receipt.
 */
export const SHARDS = 16
export const projectShard = (projectNumber: number): number => projectNumber % SHARDS
export const SHARD_NUMBERS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

/**
 * The table and its notifications are divided into fewer parts, of whole shards: a process records the shards of a part in
 * common batches, because many small batches cost more. Processes with another number of shards write and read the same
 * parts.
 */
const PARTS = 4
export const PART_NUMBERS: readonly number[] = Array.from({ length: PARTS }, (_, part) => part)
export const spoolPart = (projectNumber: number): number => projectNumber % PARTS
/** The thread of several that digests a shard: parts are divided as little as possible, so that their batches stay together. */
export const threadOfShard = (shard: number, threads: number): number => {
  const placeByPart = spoolPart(shard) * (SHARDS / PARTS) + Math.floor(shard / PARTS)
  return Math.floor((placeByPart * threads) / SHARDS)
}
/** The shards of one of several threads. */
export const shardsOfThread = (thread: number, threads: number): readonly number[] =>
  SHARD_NUMBERS.filter((shard) => threadOfShard(shard, threads) === thread)
/** The shards of a part. */
export const shardsInPart = (part: number): readonly number[] =>
  SHARD_NUMBERS.filter((shard) => spoolPart(shard) === part)

const ENDPOINTS = ['envelope', 'store'] as const
/** Stored by position: add only at the end. */
const DROP_REASONS = ['too_large', 'rate_limited', 'storm', 'quota'] as const

/** Lists instead of objects, because field names would be half of the bytes. */
const COLUMNS = [
  z.string(),
  z.number(),
  z.string(),
  z.number(),
  z.int().min(0).max(1),
  z.int().min(0).max(4),
  z.string().nullable(),
  z.string().nullable(),
  z.string().nullable(),
  z.string().nullable(),
  z.string().nullable(),
  z.array(
    z.tuple([
      z.int(),
      z
        .int()
        .min(0)
        .max(DROP_REASONS.length - 1),
    ]),
  ),
  z.int().min(0),
] as const
const Columns = z.tuple(COLUMNS)
type Columns = z.input<typeof Columns>
/** The last column only where it is true: entries of imports are few. */
const Entry = z.tuple([...COLUMNS, z.boolean().optional()])
const Entries = z.array(Entry)

/** Packs entries without their bodies for the column `entries`. */
export function packEntries(entries: readonly SpoolEntry[]): Buffer {
  return Buffer.from(
    JSON.stringify(
      entries.map((entry): z.input<typeof Entry> => {
        const { isImported = false } = entry
        const row: Columns = [
          entry.projectId,
          entry.projectNumber,
          entry.keyId,
          entry.receivedAtMs,
          ENDPOINTS.indexOf(entry.endpoint),
          CONTENT_ENCODINGS.indexOf(entry.encoding),
          entry.clientIp,
          entry.userAgent,
          entry.origin,
          entry.sdkClient,
          entry.eventId,
          entry.dropped.map(({ index, reason }): [number, number] => [index, DROP_REASONS.indexOf(reason)]),
          entry.body.length,
        ]
        return isImported ? [...row, true] : row
      }),
    ),
  )
}

/**
 * The reverse of {@link packEntries}; bodies share memory with `body`.
 * @throws Error when the row was not written by {@link packEntries}
 */
export function unpackEntries(packed: Buffer, body: Buffer): SpoolEntry[] {
  let at = 0
  const entries = Entries.parse(JSON.parse(packed.toString())).map((row): SpoolEntry => {
    const start = at
    at += row[12]
    return {
      projectId: row[0],
      projectNumber: row[1],
      keyId: row[2],
      receivedAtMs: row[3],
      endpoint: ENDPOINTS[row[4]] ?? 'envelope',
      encoding: CONTENT_ENCODINGS[row[5]] ?? 'none',
      clientIp: row[6],
      userAgent: row[7],
      origin: row[8],
      sdkClient: row[9],
      eventId: row[10],
      dropped: row[11].map(([index, reason]) => ({ index, reason: DROP_REASONS[reason] ?? 'too_large' })),
      ...(row[13] === true ? { isImported: true } : {}),
      body: body.subarray(start, at),
    }
  })
  if (at !== body.length) throw new Error(`a spool row holds ${body.length} bytes, its entries ${at}`)
  return entries
}
