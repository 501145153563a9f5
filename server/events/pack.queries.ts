import type { Connection, Tx } from '../storage/database.ts'
import { dayPlus } from '../kernel/day.ts'
import { partitionName } from '../storage/day-partitions.ts'
import { CopyRows } from '../storage/copy-in.ts'
import type { PackedPart } from './packed-bodies.queries.ts'

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
] as const
const COLUMNS = [...CARRIED, 'body_encoding', 'body_start', 'body_end', 'body', 'block_id'] as const

const dayTable = (day: string): string => partitionName('events', day)
const packedTable = (day: string): string => `${dayTable(day)}_packed`

/** Days with a partition that is not packed, oldest first, with their size on disk. */
export async function selectUnpackedDays(
  db: Connection,
  before: string,
): Promise<{ day: string; sizeBytes: number; isStarted: boolean }[]> {
  const { rows } = await db.query<{ day: string; size: number; started: boolean }>(
    `select d.day, d.size, p.received_day is not null as started from (
       select (substr(c.relname, 8, 4) || '-' || substr(c.relname, 12, 2) || '-' || substr(c.relname, 14, 2))::date as day,
              pg_total_relation_size(c.oid) as size
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'events'::regclass and c.relname ~ '^events_[0-9]{8}$') d
     left join event_packings p on p.received_day = d.day
     where d.day < $1::date and p.stage is distinct from 'done' order by d.day`,
    [before],
  )
  return rows.map((row) => ({ day: row.day, sizeBytes: row.size, isStarted: row.started }))
}

/** Creates the table for packed rows and the trigger that records changes, unless they exist. */
export async function beginPacking(tx: Tx, day: string, now: Date): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into event_packings (received_day, stage, started_at) values ($1, 'copying', $2) on conflict do nothing`,
    [day, now],
  )
  if (rowCount === 0) return
  await tx.query(
    `create table ${packedTable(day)} (like events including defaults including storage,
       check (received_day >= '${day}' and received_day < '${dayPlus(day, 1)}'))`,
  )
  await tx.query(
    `create trigger note_change after insert or update or delete on ${dayTable(day)} for each row execute function note_event_change()`,
  )
}

/** Locks the packing of a day for the transaction. @throws Error when another process has packed the day */
async function lockPacking(tx: Tx, day: string): Promise<{ nextBlockId: number }> {
  const { rows } = await tx.query<{ next_block_id: number }>(
    `select next_block_id from event_packings where received_day = $1 and stage = 'copying' for update`,
    [day],
  )
  const [packing] = rows
  if (packing === undefined) throw new Error(`${day} is packed already`)
  return { nextBlockId: packing.next_block_id }
}

/** A row to pack: its unchanged fields, and its body with the position of its JSON. */
export type RowToPack = {
  readonly carried: readonly (Buffer | null)[]
  readonly encoding: number
  readonly start: number
  readonly end: number
  readonly body: Buffer
}

/**
 * The next rows of a day by issue and time, up to a number and about a size of JSON, at least one. Locks the packing for
 * the transaction.
 */
export async function nextRows(
  tx: Tx,
  day: string,
  max: { readonly rows: number; readonly bytes: number },
): Promise<{ rows: RowToPack[]; nextBlockId: number }> {
  const { nextBlockId } = await lockPacking(tx, day)
  const at = (column: string): string => `(select ${column} from event_packings where received_day = '${day}')`
  const statement = `
      select ${CARRIED.join(', ')}, body_encoding, body_start, body_end, body from (
        select *, sum(greatest(body_end - body_start, octet_length(body)))
                    over (order by issue_id, occurred_at, event_id rows between unbounded preceding and 1 preceding) as before
        from (
          select * from ${dayTable(day)}
          where (issue_id, occurred_at, event_id) > (${at('issue_id')}, ${at('occurred_at')}, ${at('event_id')}) and body is not null
          order by issue_id, occurred_at, event_id limit ${max.rows}
        ) as oldest
      ) as counted where before is null or before < ${max.bytes} order by issue_id, occurred_at, event_id`
  const copied = await tx.copyOut(statement, CARRIED.length + 4)
  const rows = copied.map((fields): RowToPack => {
    const [encoding, start, end, body] = fields.slice(CARRIED.length)
    return {
      carried: fields.slice(0, CARRIED.length),
      encoding: encoding?.readInt16BE(0) ?? 0,
      start: start?.readInt32BE(0) ?? 0,
      end: end?.readInt32BE(0) ?? 0,
      body: body ?? Buffer.alloc(0),
    }
  })
  return { rows, nextBlockId }
}

/** A packed row: a position in a block, or its own body if that cannot be decoded (`blockId` null). */
export type PackedRow = {
  readonly row: RowToPack
  readonly blockId: number | null
  readonly start: number
  readonly end: number
}

/** Writes blocks and rows, and stores the position of the last row. */
export async function writePacked(
  tx: Tx,
  day: string,
  blocks: readonly { readonly id: number; readonly body: Buffer }[],
  rows: readonly PackedRow[],
): Promise<void> {
  const copied = new CopyRows()
  for (const { id, body } of blocks) {
    copied.row(3)
    copied.day(day)
    copied.int64(id)
    copied.bytes(body)
  }
  await tx.copyIn('event_blocks (received_day, block_id, body)', copied)
  const packed = new CopyRows()
  for (const { row, blockId, start, end } of rows) {
    packed.row(COLUMNS.length)
    for (const field of row.carried) {
      if (field === null) packed.nothing()
      else packed.bytes(field)
    }
    packed.int16(blockId === null ? row.encoding : 0)
    packed.int32(start)
    packed.int32(end)
    if (blockId === null) packed.bytes(row.body)
    else packed.nothing()
    packed.int64(blockId)
  }
  await tx.copyIn(`${packedTable(day)} (${COLUMNS.join(', ')})`, packed)
  const last = rows.at(-1)?.row
  if (last === undefined) return
  await tx.query(
    `update event_packings set issue_id = $2, occurred_at = $3, event_id = $4, next_block_id = next_block_id + $5, packed = packed + $6
     where received_day = $1`,
    [day, uuidIn(last, 'issue_id'), timeIn(last, 'occurred_at'), uuidIn(last, 'event_id'), blocks.length, rows.length],
  )
}

type Carried = (typeof CARRIED)[number]

const uuidIn = (row: RowToPack, column: Carried): string => row.carried[CARRIED.indexOf(column)]?.toString('hex') ?? ''

const EPOCH_2000_US = 946_684_800_000_000n

/** In microseconds, which a Date cannot represent. */
function timeIn(row: RowToPack, column: Carried): string {
  const us = (row.carried[CARRIED.indexOf(column)]?.readBigInt64BE(0) ?? 0n) + EPOCH_2000_US
  return `${new Date(Number(us / 1000n)).toISOString().slice(0, -1)}${String(us % 1000n).padStart(3, '0')}Z`
}

/** Rewrites a block of the day, without a lock: readers do not see it yet. */
export async function rewriteBlock(
  tx: Tx,
  day: string,
  blockId: number,
  rewrite: (body: Buffer) => Buffer | null,
): Promise<void> {
  const key = [day, blockId]
  const { rows } = await tx.query<{ body: Buffer }>(
    'select body from event_blocks where received_day = $1 and block_id = $2',
    key,
  )
  const left = rows[0] === undefined ? null : rewrite(rows[0].body)
  if (left === null) await tx.query('delete from event_blocks where received_day = $1 and block_id = $2', key)
  else await tx.query('update event_blocks set body = $3 where received_day = $1 and block_id = $2', [...key, left])
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
 * Applies recorded changes to the packed rows: deletes deleted rows, and copies written or changed rows unpacked.
 * @returns the number of changed rows, and the parts of blocks that deleted rows used
 */
export async function applyChanges(
  tx: Tx,
  day: string,
  max: number,
): Promise<{ changes: number; parts: PackedPart[] }> {
  const { rows: keys } = await tx.query<{ project_id: string; event_id: string }>(
    `delete from event_packing_changes where ctid = any(array(
       select ctid from event_packing_changes where received_day = $1 limit $2)) returning project_id, event_id`,
    [day, max],
  )
  if (keys.length === 0) return { changes: 0, parts: [] }
  const values = [keys.map((key) => key.project_id), keys.map((key) => key.event_id)]
  const wanted = '(select distinct * from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)) k'
  const { rows: gone } = await tx.query<{ block_id: number | null; body_start: number; body_end: number }>(
    `delete from ${packedTable(day)} e using ${wanted} where e.project_id = k.project_id and e.event_id = k.event_id
     returning e.block_id, e.body_start, e.body_end`,
    values,
  )
  await tx.query(
    `insert into ${packedTable(day)} (${COLUMNS.join(', ')}) select ${COLUMNS.map((column) => `e.${column}`).join(', ')}
     from ${dayTable(day)} e join ${wanted} on e.project_id = k.project_id and e.event_id = k.event_id`,
    values,
  )
  return {
    changes: keys.length,
    parts: gone.flatMap((row) =>
      row.block_id === null ? [] : [{ day, blockId: row.block_id, start: row.body_start, end: row.body_end }],
    ),
  }
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
  await tx.query(`lock table events, ${dayTable(day)} in access exclusive mode`)
}

/** Replaces the day's table by the packed one; the commit frees the old table's disk space. */
export async function swapIn(tx: Tx, day: string, now: Date): Promise<void> {
  await tx.query(`alter table events detach partition ${dayTable(day)}`)
  await tx.query(`drop table ${dayTable(day)}`)
  await tx.query(`alter table ${packedTable(day)} rename to ${dayTable(day)}`)
  await tx.query(
    `alter table events attach partition ${dayTable(day)} for values from ('${day}') to ('${dayPlus(day, 1)}')`,
  )
  await tx.query(`update event_packings set stage = 'done', finished_at = $2 where received_day = $1`, [day, now])
}

/**
 * Vacuums the tables of a packed day: the visibility map makes later reads and vacuums cheaper. Not in a transaction.
 * Leaves the connection without a time limit of statements.
 */
export async function tidyDay(on: Connection, day: string): Promise<void> {
  await on.query('set statement_timeout = 0')
  await on.query(`vacuum (freeze, analyze) ${dayTable(day)}`)
  await on.query(`vacuum (freeze, analyze) ${partitionName('event_blocks', day)}`)
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

/** Whether a day is being packed; events deleted meanwhile are deleted from the copy only at its end. */
export async function isPackingUnderWay(on: Connection): Promise<boolean> {
  const { rows } = await on.query(`select 1 from event_packings where stage = 'copying' limit 1`)
  return rows.length > 0
}
