import { newId } from '../../platform/kernel/ids.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { partitionName } from '../../platform/storage/day-partitions.ts'
import type { PackedPart, Part } from './blocks.ts'

/** SQL of segments: objects that hold the bodies of many blocks of a day. */

export type Segment = { readonly id: string; readonly day: string; readonly sha256: string; readonly bytes: number }

/** Packed days before a day whose bodies are here; oldest first. */
export async function selectDaysToMove(on: Connection, before: string): Promise<string[]> {
  const { rows } = await on.query<{ day: string }>(
    `select p.received_day as day from event_packings p
     where p.stage = 'done' and p.moved_at is null and p.received_day < $1::date order by 1`,
    [before],
  )
  return rows.map(({ day }) => day)
}

/** Events that arrive later for the day stay here. */
export async function markMoved(on: Connection, day: string, now: Date): Promise<void> {
  await on.query('update event_packings set moved_at = $2 where received_day = $1', [day, now])
}

/** A block, and which version of its row was read. */
export type HotBlock = { readonly id: number; readonly version: string; readonly body: Buffer }

/** Blocks of one statement that chooses by size. */
const MAX_BLOCKS = 2_000

/**
 * The first blocks of a day whose bodies are here, up to a size, at least one. Deletions from them wait for the end of the
 * transaction, which notes their segment: who deletes later sees that it is being written.
 */
export async function selectHotBlocks(on: Tx, day: string, maxBytes: number): Promise<HotBlock[]> {
  const { rows } = await on.query<{ id: number; version: string; body: Buffer }>(
    `select b.block_id as id, b.xmin::text as version, b.body from (
       select block_id, sum(octet_length(body)) over (order by block_id) - octet_length(body) as before
       from event_blocks where received_day = $1 and body is not null order by block_id limit ${MAX_BLOCKS}) s
     join event_blocks b on b.received_day = $1 and b.block_id = s.block_id
     where s.before < $2 and b.body is not null order by b.block_id for share of b`,
    [day, maxBytes],
  )
  return rows
}

export async function insertSegment(on: Connection, segment: Segment, now: Date): Promise<void> {
  await on.query(
    `insert into event_segments (id, received_day, sha256, byte_count, state, changed_at) values ($1, $2, $3, $4, 'writing', $5)`,
    [segment.id, segment.day, segment.sha256, segment.bytes, now],
  )
}

export type Placed = Part & { readonly id: number }

/**
 * Replaces the bodies of blocks by their places in a segment.
 * @throws BlocksChangedError when one changed since it was read
 */
export async function pointToSegment(
  tx: Tx,
  segment: Segment,
  blocks: readonly (Placed & Pick<HotBlock, 'version'>)[],
  now: Date,
): Promise<void> {
  await keepSegment(tx, segment.id, now)
  const ids = blocks.map(({ id }) => id)
  // In the order in which `removeParts` locks them, so that the two cannot deadlock.
  await tx.query(
    'select 1 from event_blocks where received_day = $1 and block_id = any($2) order by block_id for update',
    [segment.day, ids],
  )
  const { rowCount } = await tx.query(
    `update event_blocks b set body = null, segment_id = $2, segment_start = k.first, segment_end = k.last
     from unnest($3::bigint[], $4::text[], $5::int[], $6::int[]) k (id, version, first, last)
     where b.received_day = $1 and b.block_id = k.id and b.xmin::text = k.version and b.body is not null`,
    [
      segment.day,
      segment.id,
      ids,
      blocks.map(({ version }) => version),
      blocks.map(({ start }) => start),
      blocks.map(({ end }) => end),
    ],
  )
  if (rowCount !== blocks.length) throw new BlocksChangedError()
}

/** Blocks of a segment changed, or the segment was given up, before it was used. The next run begins with it again. */
export class BlocksChangedError extends Error {}

async function keepSegment(tx: Tx, id: string, now: Date): Promise<void> {
  const { rowCount } = await tx.query(
    `update event_segments set state = 'stored', changed_at = $2 where id = $1 and state = 'writing'`,
    [id, now],
  )
  if (rowCount !== 1) throw new BlocksChangedError()
}

/** Frees the space of moved bodies. Not in a transaction; leaves the connection without a time limit of statements. */
export async function vacuumBlocks(on: Connection, day: string): Promise<void> {
  await on.query('set statement_timeout = 0')
  await on.query(`vacuum (analyze) ${partitionName('event_blocks', day)}`)
}

/** Notes parts of blocks in segments, in the transaction that deletes their events. */
export async function insertRemovals(tx: Tx, parts: readonly PackedPart[]): Promise<void> {
  await tx.query(
    `insert into event_segment_removals (id, received_day, block_id, part_start, part_end)
     select * from unnest($1::uuid[], $2::date[], $3::bigint[], $4::int[], $5::int[])`,
    [
      parts.map(() => newId()),
      parts.map(({ day }) => day),
      parts.map(({ blockId }) => blockId),
      parts.map(({ start }) => start),
      parts.map(({ end }) => end),
    ],
  )
}

/** Segments with deleted parts, by chance: one that cannot be written again must not keep others from it. */
export async function selectSegmentsToRewrite(on: Connection, max: number): Promise<Segment[]> {
  const { rows } = await on.query<Segment>(
    `select s.id, s.received_day as day, s.sha256, s.byte_count as bytes from event_segments s
     where s.state = 'stored' and s.id in (
       select distinct b.segment_id from event_segment_removals r
       join event_blocks b on b.received_day = r.received_day and b.block_id = r.block_id)
     order by random() limit $1`,
    [max],
  )
  return rows
}

export type Removal = Part & { readonly id: string; readonly blockId: number }

/** The blocks of a segment, and the parts to remove. */
export async function selectContent(
  on: Connection,
  { id, day }: Segment,
): Promise<{ blocks: Placed[]; removals: Removal[] }> {
  const blocks = await on.query<{ id: number; start: number; end: number }>(
    `select block_id as id, segment_start as start, segment_end as "end" from event_blocks
     where received_day = $1 and segment_id = $2 order by segment_start`,
    [day, id],
  )
  const removals = await on.query<{ id: string; blockId: number; start: number; end: number }>(
    `select id, block_id as "blockId", part_start as start, part_end as "end" from event_segment_removals
     where received_day = $1 and block_id = any($2)`,
    [day, blocks.rows.map((block) => block.id)],
  )
  return { blocks: blocks.rows, removals: removals.rows }
}

/**
 * Replaces a segment by one without the removed parts.
 * @param next null when nothing is left
 * @param blocks their places in the next one; others of the segment are deleted
 * @throws BlocksChangedError when another process replaced it
 */
export async function replaceSegment(
  tx: Tx,
  { id, day }: Segment,
  next: Segment | null,
  blocks: readonly Placed[],
  removals: readonly Removal[],
  now: Date,
): Promise<void> {
  const { rowCount } = await tx.query(
    `update event_segments set state = 'garbage', changed_at = $2 where id = $1 and state = 'stored'`,
    [id, now],
  )
  if (rowCount !== 1) throw new BlocksChangedError()
  // In the order of `pointToSegment`.
  await tx.query(
    'select 1 from event_blocks where received_day = $1 and segment_id = $2 order by block_id for update',
    [day, id],
  )
  await tx.query(
    'delete from event_blocks where received_day = $1 and segment_id = $2 and not (block_id = any($3::bigint[]))',
    [day, id, blocks.map((block) => block.id)],
  )
  if (next !== null) {
    await keepSegment(tx, next.id, now)
    await tx.query(
      `update event_blocks b set segment_id = $3, segment_start = k.first, segment_end = k.last
       from unnest($4::bigint[], $5::int[], $6::int[]) k (id, first, last)
       where b.received_day = $1 and b.segment_id = $2 and b.block_id = k.id`,
      [
        day,
        id,
        next.id,
        blocks.map((block) => block.id),
        blocks.map(({ start }) => start),
        blocks.map(({ end }) => end),
      ],
    )
  }
  await tx.query('delete from event_segment_removals where id = any($1)', [removals.map((removal) => removal.id)])
}

/** Gives up a segment that nothing refers to. */
export async function giveUpSegment(on: Connection, id: string, now: Date): Promise<void> {
  await on.query(`update event_segments set state = 'garbage', changed_at = $2 where id = $1 and state = 'writing'`, [
    id,
    now,
  ])
}

/** An upload that takes longer was cut off: `WRITE_LIMITS` of move-blocks.ts are less, for writing and reading back. */
const WRITING_MINUTES = 30

/** Marks segments that nothing refers to: those of dropped days, and of uploads that were cut off. */
export async function markGarbage(on: Connection, now: Date): Promise<void> {
  await on.query(
    `update event_segments s set state = 'garbage', changed_at = $1
     where (s.state = 'writing' and s.changed_at < $1::timestamptz - make_interval(mins => ${WRITING_MINUTES}))
        or (s.state = 'stored' and to_regclass('event_blocks_' || to_char(s.received_day, 'YYYYMMDD')) is null)`,
    [now],
  )
  await on.query(
    `delete from event_segment_removals r where not exists (
       select 1 from event_blocks b where b.received_day = r.received_day and b.block_id = r.block_id)`,
  )
}

export async function selectGarbage(on: Connection, max: number): Promise<Segment[]> {
  const { rows } = await on.query<Segment>(
    `select id, received_day as day, sha256, byte_count as bytes from event_segments
     where state = 'garbage' order by changed_at limit $1`,
    [max],
  )
  return rows
}

export async function deleteSegment(on: Connection, id: string): Promise<void> {
  await on.query(`delete from event_segments where id = $1 and state = 'garbage'`, [id])
}

/** Whether bodies are in objects. */
export async function hasMovedBodies(on: Connection): Promise<boolean> {
  const { rowCount } = await on.query(`select 1 from event_segments where state = 'stored' limit 1`)
  return rowCount === 1
}

/** All segments; `usedSince` is null for those that no block refers to. */
export async function selectSegments(on: Connection): Promise<(Segment & { readonly usedSince: Date | null })[]> {
  const { rows } = await on.query<Segment & { usedSince: Date | null }>(
    `select id, received_day as day, sha256, byte_count as bytes, case state when 'stored' then changed_at end as "usedSince"
     from event_segments order by received_day, id`,
  )
  return rows
}

/**
 * Gives up a segment in use: deletes the events whose bodies are in it.
 * @returns their number; 0 when another process replaced the segment
 */
export async function forgetSegment(tx: Tx, { id, day }: Segment, now: Date): Promise<number> {
  const { rowCount: given } = await tx.query(
    `update event_segments set state = 'garbage', changed_at = $2 where id = $1 and state = 'stored'`,
    [id, now],
  )
  if (given !== 1) return 0
  // First events, then blocks, as other deletions.
  const { rowCount: events } = await tx.query(
    `delete from events where received_day = $1 and block_id = any(array(
       select block_id from event_blocks where received_day = $1 and segment_id = $2))`,
    [day, id],
  )
  const { rows } = await tx.query<{ block_id: number }>(
    'select block_id from event_blocks where received_day = $1 and segment_id = $2 order by block_id for update',
    [day, id],
  )
  const ids = rows.map((block) => block.block_id)
  await tx.query('delete from event_blocks where received_day = $1 and block_id = any($2)', [day, ids])
  await tx.query('delete from event_segment_removals where received_day = $1 and block_id = any($2)', [day, ids])
  return events ?? 0
}

/** Whether deleted events may still be in objects, or come into one that is being written. */
export async function isRemovalPending(on: Connection): Promise<boolean> {
  const { rows } = await on.query<{ pending: boolean }>(
    `select exists (select 1 from event_segment_removals) or exists (
       select 1 from event_segments where state <> 'stored') as pending`,
  )
  return rows[0]?.pending === true
}
