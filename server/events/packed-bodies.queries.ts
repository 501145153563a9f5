import { sql, type Selectable } from 'kysely'
import { CONTENT_ENCODINGS } from '../kernel/content-encoding.ts'
import { unhyphenate } from '../kernel/ids.ts'
import type { Connection, Tx } from '../storage/database.ts'
import type { Tables } from '../storage/tables.gen.ts'
import { blankParts, openBlock, type Part } from './blocks.ts'
import type { StoredEvent } from './event.ts'

/** Bodies in blocks: read as if each were in its row, and deleted with it. */

export type EventRow = Selectable<Tables['events']>

/** The events of rows, in their order; reads each block once. Leaves out events deleted meanwhile. */
export async function storedEvents(db: Connection, rows: readonly EventRow[]): Promise<StoredEvent[]> {
  const blocks = await openBlocks(db, rows)
  return rows.flatMap((row) => {
    if (row.body !== null) return [storedEvent(row, row.body, row.body_start, row.body_end)]
    const block = blocks.get(`${row.received_day}/${row.block_id}`)
    const json = block?.subarray(row.body_start, row.body_end)
    // Parts of deleted events are blank.
    return json === undefined || json[0] === 0 ? [] : [storedEvent(row, json, 0, json.length)]
  })
}

export type PackedPart = Part & { readonly day: string; readonly blockId: number }

/** The parts of blocks that deleted rows used. */
export const partsOf = (
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
    const left = blankParts(block.body, ofBlock)
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

async function openBlocks(db: Connection, rows: readonly EventRow[]): Promise<Map<string, Buffer>> {
  const keys = new Map<string, { day: string; id: number }>()
  for (const { received_day: day, block_id: id } of rows) if (id !== null) keys.set(`${day}/${id}`, { day, id })
  if (keys.size === 0) return new Map()
  const wanted = [...keys.values()]
  const found = await sql<{ key: string; body: Buffer }>`
    select k.day || '/' || k.id as key, b.body
    from unnest(${wanted.map(({ day }) => day)}::date[], ${wanted.map(({ id }) => id)}::bigint[]) k (day, id)
    join event_blocks b on b.received_day = k.day and b.block_id = k.id`.execute(db)
  return new Map(found.rows.map(({ key, body }) => [key, openBlock(body)]))
}

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
