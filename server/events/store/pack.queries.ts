import type { Connection, Tx } from '../../platform/storage/database.ts'
import { dayPlus } from '../../platform/kernel/day.ts'
import { partitionName } from '../../platform/storage/day-partitions.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import type { PackedPart } from './blocks.ts'
import { insertBlocks, takeBlockIds } from './packed-bodies.queries.ts'

/** SQL of packing. COPY and DDL take no parameters, so table names are inserted; they are made from days of our own. */

/** Columns that are copied unchanged, in the binary form of COPY. */
const CARRIED = [
  'received_day',
  'project_id',
  'event_id',
  'issue_id',
  'received_at',
  'occurred_at',
  'sent_at',
  'level',
  'release',
  'environment',
  'client_ip',
  'user_agent',
  'user_hash',
  'os_id',
  'device_id',
  'exception_type_id',
] as const
const COLUMNS = [...CARRIED, 'body_encoding', 'body_start', 'body_end', 'body', 'block_id'] as const

const dayTable = (day: string): string => partitionName('events', day)
const blocksTable = (day: string): string => partitionName('event_blocks', day)
const packedTable = (day: string): string => `${dayTable(day)}_packed`
const packedBlocksTable = (day: string): string => `${blocksTable(day)}_packed`

/** Days with a partition that is not packed, oldest first, with their size on disk. */
export async function selectUnpackedDays(
  db: Connection,
  before: string,
): Promise<{ day: string; sizeBytes: number; isStarted: boolean }[]> {
  const { rows } = await db.query<{ day: string; size: number; started: boolean }>(
    `select d.day, d.size, p.received_day is not null as started from (
       select (substr(c.relname, 8, 4) || '-' || substr(c.relname, 12, 2) || '-' || substr(c.relname, 14, 2))::date as day,
              pg_total_relation_size(c.oid)
                + coalesce(pg_total_relation_size(to_regclass('event_blocks' || substr(c.relname, 7))), 0) as size
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'events'::regclass and c.relname ~ '^events_[0-9]{8}$') d
     left join event_packings p on p.received_day = d.day
     where d.day < $1::date and p.stage is distinct from 'done' order by d.day`,
    [before],
  )
  return rows.map((row) => ({ day: row.day, sizeBytes: row.size, isStarted: row.started }))
}

/**
 * Creates the tables for packed rows and blocks and the trigger that records changes, unless they exist. Copying starts
 * again when the files of the tables changed since: VACUUM FULL and restoring a dump give rows other places.
 * @returns whether copying begins
 */
export async function beginPacking(tx: Tx, day: string, now: Date): Promise<boolean> {
  await tx.query(
    `insert into event_packings (received_day, stage, started_at) values ($1, 'copying', $2) on conflict do nothing`,
    [day, now],
  )
  const { rows } = await tx.query<{ is_started: boolean | null }>(
    `select stage = 'done' or files = (${filesOf(day)}) as is_started from event_packings where received_day = $1 for update`,
    [day],
  )
  if (rows[0]?.is_started === true) return false
  await tx.query(`drop table if exists ${packedTable(day)}, ${packedBlocksTable(day)}`)
  const isOfDay = `check (received_day >= '${day}' and received_day < '${dayPlus(day, 1)}')`
  await tx.query(`create table ${packedTable(day)} (like events including defaults including storage, ${isOfDay})`)
  await tx.query(
    `create table ${packedBlocksTable(day)} (like event_blocks including storage including indexes, ${isOfDay})`,
  )
  await tx.query(
    `create or replace trigger note_change after insert or update or delete on ${dayTable(day)} for each row execute function note_event_change()`,
  )
  await tx.query(
    `update event_packings set files = (${filesOf(day)}), copied_to = default, packed = 0 where received_day = $1`,
    [day],
  )
  return true
}

/**
 * A query: the files of the day's tables of events and blocks and of their copies, with their numbers of columns; null while
 * one does not exist. A copy from before a migration may lack columns.
 */
const filesOf = (day: string): string =>
  `select string_agg(pg_relation_filenode(name) || ':' || (select relnatts from pg_class where oid = name), '/' order by name::text)
   from (values (to_regclass('${dayTable(day)}')), (to_regclass('${packedTable(day)}')),
     (to_regclass('${blocksTable(day)}')), (to_regclass('${packedBlocksTable(day)}'))) t (name) having count(name) = 4`

/** Locks the packing of a day for the transaction. @throws Error when it must begin again, or is done */
async function lockPacking(tx: Tx, day: string): Promise<{ copiedTo: string }> {
  const { rows } = await tx.query<{ copied_to: string }>(
    `select copied_to from event_packings
     where received_day = $1 and stage = 'copying' and files = (${filesOf(day)}) for update`,
    [day],
  )
  const [packing] = rows
  if (packing === undefined) throw new Error(`${day} is packed already, or its table was rewritten`)
  return { copiedTo: packing.copied_to }
}

/** A row to pack: its unchanged fields, and its body, in the row or in a block, with the position of its JSON. */
export type RowToPack = {
  readonly carried: readonly (Buffer | null)[]
  readonly encoding: number
  readonly start: number
  readonly end: number
  readonly body: Buffer | null
  readonly blockId: number | null
}

/** Rows of one step of packing, and the place of the last one; null at the end of the day. */
type RowsToPack = { readonly rows: RowToPack[]; readonly last: string | null }

/** About how much smaller a body of 20 kB becomes alone, for the size of a step. */
const COMPRESSION = 6

/**
 * The next rows of a day as they lie on disk, up to a number and about a size of compressed bodies, at least one. Locks
 * the packing for the transaction.
 */
export async function nextRows(
  tx: Tx,
  day: string,
  max: { readonly rows: number; readonly bytes: number },
): Promise<RowsToPack> {
  const { copiedTo } = await lockPacking(tx, day)
  // Reading by place is sequential; by index it would read a page per row, and open a block of digestion for each.
  await tx.query('set local enable_seqscan = off')
  const { rows: ends } = await tx.query<{ last: string | null }>(
    `select max(place)::text as last from (
       select place, sum(bytes) over (order by place rows between unbounded preceding and 1 preceding) as before from (
         select ctid as place, coalesce(octet_length(body), (body_end - body_start) / ${COMPRESSION}) as bytes
         from ${dayTable(day)} where ctid > $1::tid limit ${max.rows}
       ) as next
     ) as counted where before is null or before < ${max.bytes}`,
    [copiedTo],
  )
  const last = ends[0]?.last ?? null
  if (last === null) return { rows: [], last }
  const copied = await tx.copyOut(
    `select ${CARRIED.join(', ')}, body_encoding, body_start, body_end, body, block_id from ${dayTable(day)}
     where ctid > '${placeOf(copiedTo)}' and ctid <= '${placeOf(last)}'`,
    CARRIED.length + 5,
  )
  return { rows: copied.map(rowToPack), last }
}

/** COPY takes no parameters. */
function placeOf(text: string): string {
  if (!/^\(\d+,\d+\)$/.test(text)) throw new Error(`not a place of a row: ${text}`)
  return text
}

function rowToPack(fields: readonly (Buffer | null)[]): RowToPack {
  const [encoding, start, end, body, blockId] = fields.slice(CARRIED.length)
  return {
    carried: fields.slice(0, CARRIED.length),
    encoding: encoding?.readInt16BE(0) ?? 0,
    start: start?.readInt32BE(0) ?? 0,
    end: end?.readInt32BE(0) ?? 0,
    body: body ?? null,
    blockId: blockId === null || blockId === undefined ? null : Number(blockId.readBigInt64BE(0)),
  }
}

/** The fields of a row that say which event it is; the time of occurrence in µs. */
export function identify({ carried }: RowToPack) {
  const field = (column: (typeof CARRIED)[number]): Buffer => carried[CARRIED.indexOf(column)] ?? NOTHING
  return {
    day: field('received_day'),
    projectId: field('project_id'),
    eventId: field('event_id'),
    issueId: field('issue_id'),
    occurredUs: field('occurred_at').readBigInt64BE(),
  }
}

/** By issue and time of occurrence. */
export function byIssueAndTime(a: RowToPack, b: RowToPack): number {
  for (const column of ['issue_id', 'occurred_at', 'event_id'] as const) {
    const [left, right] = [a, b].map(({ carried }) => carried[CARRIED.indexOf(column)] ?? NOTHING)
    const order = Buffer.compare(left ?? NOTHING, right ?? NOTHING)
    if (order !== 0) return order
  }
  return 0
}
const NOTHING = Buffer.alloc(0)

/** Bodies of blocks that digestion wrote; an absent one held only deleted events. */
export async function selectDayBlocks(tx: Tx, day: string, ids: readonly number[]): Promise<Map<number, Buffer>> {
  const copied = await tx.copyOut(
    `select block_id, body from ${blocksTable(day)} where block_id in (${ids.join(', ')})`,
    2,
  )
  return new Map(copied.map(([id, body]) => [Number(id?.readBigInt64BE(0) ?? 0n), body ?? NOTHING]))
}

/** A packed row: a position in a new block, or, when its body cannot be decoded, where it was (`block` null). */
export type PackedRow = {
  readonly row: RowToPack
  /** Index in the new blocks. */
  readonly block: number | null
  readonly start: number
  readonly end: number
}

/** Writes blocks and rows, and stores the place of the last row. */
export async function writePacked(
  tx: Tx,
  day: string,
  {
    blocks,
    rows,
    last,
  }: { readonly blocks: readonly Buffer[]; readonly rows: readonly PackedRow[]; readonly last: string },
): Promise<void> {
  const ids = await takeBlockIds(tx, blocks.length)
  await insertBlocks(
    tx,
    packedBlocksTable(day),
    blocks.map((body, index) => ({ day, body, id: ids[index] ?? 0 })),
  )
  const packed = new CopyRows()
  for (const { row, block, start, end } of rows) {
    packed.row(COLUMNS.length)
    for (const field of row.carried) {
      if (field === null) packed.nothing()
      else packed.bytes(field)
    }
    packed.int16(block === null ? row.encoding : 0)
    packed.int32(start)
    packed.int32(end)
    if (block === null && row.body !== null) packed.bytes(row.body)
    else packed.nothing()
    packed.int64(block === null ? row.blockId : (ids[block] ?? null))
  }
  await tx.copyIn(`${packedTable(day)} (${COLUMNS.join(', ')})`, packed)
  const damaged = rows.flatMap(({ row, block }) => (block === null && row.blockId !== null ? [row.blockId] : []))
  if (damaged.length > 0)
    await tx.query(
      `insert into ${packedBlocksTable(day)} select * from ${blocksTable(day)} where block_id = any($1) on conflict do nothing`,
      [damaged],
    )
  await tx.query('update event_packings set copied_to = $2, packed = packed + $3 where received_day = $1', [
    day,
    last,
    rows.length,
  ])
}

/** Rewrites a packed block of the day, without a lock: readers do not see it yet. */
export async function rewriteBlock(
  tx: Tx,
  day: string,
  blockId: number,
  rewrite: (body: Buffer) => Buffer | null,
): Promise<void> {
  const table = packedBlocksTable(day)
  const { rows } = await tx.query<{ body: Buffer }>(`select body from ${table} where block_id = $1`, [blockId])
  const left = rows[0] === undefined ? null : rewrite(rows[0].body)
  if (left === null) await tx.query(`delete from ${table} where block_id = $1`, [blockId])
  else await tx.query(`update ${table} set body = $2 where block_id = $1`, [blockId, left])
}

/** Creates the indexes that a partition of events must have; once and after the rows, which makes them small. */
export async function indexPacked(tx: Tx, day: string): Promise<void> {
  await lockPacking(tx, day)
  const { rowCount } = await tx.query('select 1 from pg_index where indrelid = $1::regclass', [packedTable(day)])
  if ((rowCount ?? 0) > 0) return
  const { rows } = await tx.query<{ definition: string }>(
    `select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'events'::regclass order by 1`,
  )
  for (const { definition } of rows) {
    const columns = definition.slice(definition.indexOf(' USING '))
    const unique = definition.startsWith('CREATE UNIQUE') ? 'unique' : ''
    await tx.query(`create ${unique} index on ${packedTable(day)}${columns}`)
  }
}

/**
 * Applies recorded changes to the packed rows: deletes deleted rows, and copies written or changed rows with their body,
 * unpacked. Bodies of blocks are left out: `copyBody` copies them.
 */
export async function applyChanges(tx: Tx, day: string, max: number): Promise<AppliedChanges> {
  const { rows: keys } = await tx.query<{ project_id: string; event_id: string }>(
    `delete from event_packing_changes where ctid = any(array(
       select ctid from event_packing_changes where received_day = $1 limit $2)) returning project_id, event_id`,
    [day, max],
  )
  if (keys.length === 0) return { changes: 0, parts: [], inBlocks: [] }
  const values = [keys.map((key) => key.project_id), keys.map((key) => key.event_id)]
  const wanted = '(select distinct * from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)) k'
  const { rows: gone } = await tx.query<{ block_id: number | null; body_start: number; body_end: number }>(
    `delete from ${packedTable(day)} e using ${wanted} where e.project_id = k.project_id and e.event_id = k.event_id
     returning e.block_id, e.body_start, e.body_end`,
    values,
  )
  const live = `from ${dayTable(day)} e join ${wanted} on e.project_id = k.project_id and e.event_id = k.event_id`
  await tx.query(
    `insert into ${packedTable(day)} (${COLUMNS.join(', ')}) select ${COLUMNS.map((column) => `e.${column}`).join(', ')}
     ${live} where e.block_id is null`,
    values,
  )
  const { rows: inBlocks } = await tx.query<RowInBlock>(
    `select e.project_id, e.event_id, e.body_start, e.body_end, e.block_id ${live} where e.block_id is not null`,
    values,
  )
  return {
    changes: keys.length,
    parts: gone.flatMap((row) =>
      row.block_id === null ? [] : [{ day, blockId: row.block_id, start: row.body_start, end: row.body_end }],
    ),
    inBlocks,
  }
}

type AppliedChanges = {
  readonly changes: number
  /** The parts of packed blocks that deleted rows used. */
  readonly parts: readonly PackedPart[]
  /** Rows that must still be copied, because their body is in a block. */
  readonly inBlocks: readonly RowInBlock[]
}

type RowInBlock = {
  readonly project_id: string
  readonly event_id: string
  readonly body_start: number
  readonly body_end: number
  readonly block_id: number
}

/** Copies a row whose body was in a block, with the body. */
export async function copyWithBody(
  tx: Tx,
  day: string,
  row: RowInBlock,
  { body, encoding, length }: { readonly body: Buffer; readonly encoding: number; readonly length: number },
): Promise<void> {
  await tx.query(
    `insert into ${packedTable(day)} (${COLUMNS.join(', ')}) select ${CARRIED.join(', ')}, $3::smallint, 0, $4::int, $5::bytea, null
     from ${dayTable(day)} where project_id = $1 and event_id = $2`,
    [row.project_id, row.event_id, encoding, length, body],
  )
}

/** Sets the maximum wait for a lock of later statements of the transaction. */
export async function limitLockWait(tx: Tx, waitMs: number): Promise<void> {
  await tx.query(`set local lock_timeout = ${waitMs}`)
}

/** Removes the time limit of later statements of the transaction. */
export async function allowLongStatements(tx: Tx): Promise<void> {
  await tx.query('set local statement_timeout = 0')
}

/**
 * Locks the day's table exclusively for the transaction. Waits only briefly, because all queries of events wait behind
 * it.
 */
export async function lockDay(tx: Tx, day: string, waitMs: number): Promise<void> {
  await lockPacking(tx, day)
  await limitLockWait(tx, waitMs)
  await tx.query(`lock table events, ${dayTable(day)}, event_blocks, ${blocksTable(day)} in access exclusive mode`)
}

/** Replaces the day's tables by the packed ones; the commit frees the disk space of the old ones. */
export async function swapIn(tx: Tx, day: string, now: Date): Promise<void> {
  for (const [table, old, packed] of [
    ['events', dayTable(day), packedTable(day)],
    ['event_blocks', blocksTable(day), packedBlocksTable(day)],
  ]) {
    await tx.query(`alter table ${table} detach partition ${old}`)
    await tx.query(`drop table ${old}`)
    await tx.query(`alter table ${packed} rename to ${old}`)
    await tx.query(`alter table ${table} attach partition ${old} for values from ('${day}') to ('${dayPlus(day, 1)}')`)
  }
  await tx.query(`update event_packings set stage = 'done', finished_at = $2 where received_day = $1`, [day, now])
}

/**
 * Vacuums the tables of a packed day: the visibility map makes later reads and vacuums cheaper. Not in a transaction.
 * Leaves the connection without a time limit of statements.
 */
export async function tidyDay(on: Connection, day: string): Promise<void> {
  await on.query('set statement_timeout = 0')
  await on.query(`vacuum (freeze, analyze) ${dayTable(day)}`)
  await on.query(`vacuum (freeze, analyze) ${blocksTable(day)}`)
}

/**
 * Deletes the packing records of earlier days whose table was dropped; a table that was in use still needs its blocks.
 */
export async function deletePackingsBefore(on: Connection, day: string): Promise<void> {
  await on.query(
    `delete from event_packings p where p.received_day < $1::date
       and to_regclass('events_' || to_char(p.received_day, 'YYYYMMDD')) is null`,
    [day],
  )
}

/** Whether deleted events may be in the copy of a day that is being packed, from which they are deleted at its end. */
export async function isPacking(on: Connection): Promise<boolean> {
  const { rowCount } = await on.query(`select 1 from event_packings where stage = 'copying' limit 1`)
  return rowCount === 1
}
