import { setImmediate } from 'node:timers/promises'
import { sql, type Selectable } from 'kysely'
import { CONTENT_ENCODINGS } from '../../platform/kernel/inflate.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import type { Connection, RowTarget, Statements, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { blankSoundParts, openSoundBlock, type PackedPart, readBlockPart } from './blocks.ts'
import type { StoredEvent } from './event.ts'
import { findSegmentReader } from './segment-reader.ts'
import { insertRemovals } from './segments.queries.ts'

/** Bodies in blocks: read as if each were in its row, and deleted with it. */

export type EventRow = Selectable<Tables['events']>

/**
 * The events of rows, in their order; opens each block once. Leaves out events deleted meanwhile. Those whose block is in
 * object storage that cannot be read now are away.
 */
export async function storedEvents(db: Connection, rows: readonly EventRow[]): Promise<StoredEvent[]> {
  const { jsons, absent, away } = await openParts(db, rows)
  // Packing a day replaces its blocks, and deleting events replaces objects; then the row, or the block, names another one.
  const missed = [...absent, ...away]
  const rewritten = missed.length === 0 ? [] : await selectAgain(db, missed)
  const again = await openParts(db, rewritten)
  const now = new Map(rewritten.map((row) => [keyOf(row), row]))
  return rows.flatMap((before) => {
    const row = now.get(keyOf(before)) ?? before
    if (row.body !== null) return [storedEvent(row, row.body, row.body_start, row.body_end)]
    if (again.away.has(row))
      return [{ ...storedEvent(row, EMPTY, row.body_start, row.body_end), isAway: true as const }]
    const json = jsons.get(row) ?? again.jsons.get(row)
    return json === undefined ? [] : [storedEvent(row, json, 0, json.length)]
  })
}

const EMPTY = Buffer.alloc(0)
const keyOf = (row: EventRow): string => `${row.received_day}/${row.project_id}/${row.event_id}`

/** New ids of blocks, unique in all days. */
export async function takeBlockIds(on: Statements, count: number): Promise<number[]> {
  if (count === 0) return []
  const { rows } = await on.query<{ id: number }>({
    name: 'event-block-ids',
    text: `select nextval('event_block_ids') as id from generate_series(1, $1::int)`,
    values: [count],
  })
  return rows.map(({ id }) => id)
}

/** Writes blocks of one or more days. */
export async function insertBlocks(
  into: RowTarget,
  table: string,
  blocks: readonly { readonly day: string; readonly id: number; readonly body: Buffer }[],
): Promise<void> {
  const copied = new CopyRows()
  for (const { day, id, body } of blocks) {
    copied.row(3)
    copied.day(day)
    copied.int64(id)
    copied.bytes(body)
  }
  await into.copyIn(`${table} (received_day, block_id, body)`, copied)
}

async function selectAgain(db: Connection, rows: readonly EventRow[]): Promise<EventRow[]> {
  const { rows: found } = await sql<EventRow>`
    select e.* from unnest(${rows.map((row) => row.received_day)}::date[], ${rows.map((row) => row.project_id)}::uuid[],
      ${rows.map((row) => row.event_id)}::uuid[]) k (day, project_id, event_id)
    join events e on e.received_day = k.day and e.project_id = k.project_id and e.event_id = k.event_id`.execute(db)
  return found
}

/** The parts of blocks that deleted rows used. */
export const listPackedParts = (
  rows: readonly Pick<EventRow, 'received_day' | 'block_id' | 'body_start' | 'body_end'>[],
): PackedPart[] =>
  rows.flatMap((row) =>
    row.block_id === null
      ? []
      : [{ day: row.received_day, blockId: row.block_id, start: row.body_start, end: row.body_end }],
  )

/** Deletes bodies from their blocks, in the transaction that deletes their rows; deletes blocks that become empty. */
export async function removeParts(tx: Tx, parts: readonly PackedPart[]): Promise<void> {
  const byBlock = Map.groupBy(parts, ({ day, blockId }) => `${day}/${blockId}`)
  // In a fixed order, so that two writers cannot deadlock.
  const inOrder = [...byBlock.values()].sort(([a], [b]) =>
    a === undefined || b === undefined ? 0 : a.day < b.day ? -1 : a.day > b.day ? 1 : a.blockId - b.blockId,
  )
  for (const ofBlock of inOrder) {
    const [first] = ofBlock
    if (first === undefined) continue
    const isIt = { received_day: first.day, block_id: first.blockId }
    const block = await tx
      .selectFrom('event_blocks')
      .select('body')
      .where((eb) => eb.and(isIt))
      .forUpdate()
      .executeTakeFirst()
    if (block === undefined) continue
    if (block.body === null) {
      await insertRemovals(tx, ofBlock)
      continue
    }
    const left = blankSoundParts(block.body, ofBlock)
    // A damaged block must not keep its events from being deleted; it goes with its day.
    if (left === undefined) continue
    if (left === null)
      await tx
        .deleteFrom('event_blocks')
        .where((eb) => eb.and(isIt))
        .execute()
    else
      await tx
        .updateTable('event_blocks')
        .set({ body: left })
        .where((eb) => eb.and(isIt))
        .execute()
  }
}

/** Blocks of one statement; each is up to 1 MiB when it is open. */
const BLOCKS_AT_ONCE = 32

/**
 * The JSON of rows whose body is in a block; blank parts and damaged blocks are left out. Yields after each block, and keeps none.
 * @returns also the rows whose block does not exist, and those whose block is in object storage that cannot be read now
 */
async function openParts(
  db: Connection,
  rows: readonly EventRow[],
): Promise<{ jsons: Map<EventRow, Buffer>; absent: EventRow[]; away: Set<EventRow> }> {
  const jsons = new Map<EventRow, Buffer>()
  const away = new Set<EventRow>()
  const byBlock = Map.groupBy(
    rows.filter((row) => row.block_id !== null),
    blockKey,
  )
  const keys = [...byBlock.keys()]
  for (let from = 0; from < keys.length; from += BLOCKS_AT_ONCE) {
    const some = keys.slice(from, from + BLOCKS_AT_ONCE).flatMap((key) => byBlock.get(key)?.slice(0, 1) ?? [])
    const found = await sql<BlockRow>`
      select b.received_day, b.block_id, b.body, b.segment_id, b.segment_start, b.segment_end
      from unnest(${some.map((row) => row.received_day)}::date[], ${some.map((row) => row.block_id)}::bigint[]) k (day, id)
      join event_blocks b on b.received_day = k.day and b.block_id = k.id`.execute(db)
    const fetched = await readSegments(db, found.rows, (block) => byBlock.get(blockKey(block))?.[0]?.project_id ?? '')
    for (const [index, block] of found.rows.entries()) {
      if (from + index > 0) await setImmediate()
      const body = block.body ?? fetched.get(block) ?? null
      const decoded = body === null ? null : openSoundBlock(body)
      for (const row of byBlock.get(blockKey(block)) ?? []) {
        if (body === null) away.add(row)
        if (decoded === null) continue
        const json = readBlockPart(decoded, { start: row.body_start, end: row.body_end })
        if (json !== null) jsons.set(row, Buffer.from(json))
      }
      byBlock.delete(blockKey(block))
    }
  }
  return { jsons, absent: [...byBlock.values()].flat(), away }
}

type BlockRow = {
  received_day: string
  block_id: number
  body: Buffer | null
  segment_id: string | null
  segment_start: number | null
  segment_end: number | null
}

/** Bodies of the blocks that are in object storage; those that cannot be read now are missing. */
async function readSegments(
  db: Connection,
  blocks: readonly BlockRow[],
  projectOf: (block: BlockRow) => string,
): Promise<Map<BlockRow, Buffer>> {
  const moved = blocks.filter(({ body }) => body === null)
  const reader = moved.length === 0 ? undefined : findSegmentReader(db)
  if (reader === undefined) return new Map()
  const bodies = await reader.read(
    moved.map((block) => ({
      projectId: projectOf(block),
      day: block.received_day,
      segmentId: block.segment_id ?? '',
      start: block.segment_start ?? 0,
      end: block.segment_end ?? 0,
    })),
  )
  return new Map(
    moved.flatMap((block, index) => {
      const body = bodies[index] ?? null
      return body === null ? [] : [[block, body] as const]
    }),
  )
}

const blockKey = (row: Pick<EventRow, 'received_day' | 'block_id'>): string => `${row.received_day}/${row.block_id}`

const storedEvent = (row: EventRow, body: Buffer, bodyStart: number, bodyEnd: number): StoredEvent => ({
  projectId: row.project_id,
  eventId: unhyphenate(row.event_id),
  issueId: row.issue_id,
  receivedAt: row.received_at,
  occurredAt: row.occurred_at,
  sentAt: row.sent_at,
  level: row.level,
  release: row.release,
  environment: row.environment,
  clientIp: row.client_ip,
  userAgent: row.user_agent,
  userHash: row.user_hash,
  // A part of a block is plain JSON.
  encoding: row.block_id === null ? (CONTENT_ENCODINGS[row.body_encoding] ?? 'none') : 'none',
  bodyStart,
  bodyEnd,
  body,
})
