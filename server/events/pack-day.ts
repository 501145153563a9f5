import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import type { App } from '../context/app.ts'
import { CONTENT_ENCODINGS } from '../kernel/content-encoding.ts'
import { ensureDayPartitions } from '../storage/day-partitions.ts'
import { withClientTx } from '../storage/pool.ts'
import { blankParts, MOST_BLOCK_BYTES, MOST_BLOCK_EVENTS, openBody, packBlock } from './blocks.ts'
import {
  applyChanges,
  beginPacking,
  indexPacked,
  lockDay,
  nextRows,
  type PackedRow,
  type RowToPack,
  swapIn,
  tidyDay,
  writePacked,
} from './pack.queries.ts'
import type { PackedPart } from './packed-bodies.ts'

/** Rows and bytes of one transaction; the event loop turns after each block, a few milliseconds of work. */
const STEP = { rows: 400, bytes: 8 * 1024 * 1024 }
const MOST_CHANGES = 20_000
/** With this many changes left, the last of them are applied while nobody else gets at the day. */
const FEW_CHANGES = 500
/** All questions about events wait behind the swap while it waits for its lock. */
const LOCK_WAIT_MS = 500

/** Gone on with after a pause: somebody held the table for longer than others should wait. */
export class DayBusyError extends Error {}

/**
 * Rewrites a closed day: bodies into blocks, rows without bodies into a table beside the day's, which then takes its
 * place. Each step is a transaction and the next begins where the last one ended, also after a kill -9. Events stay
 * readable all the time; what is deleted or comes late meanwhile is noted by a trigger and honoured before the swap.
 * @param pause called between steps; throws to stop
 * @returns how many events were packed by this call
 * @throws DayBusyError when the day is in use; everything done so far is kept
 */
export async function packDay(app: App, day: string, pause: () => Promise<void>): Promise<number> {
  await ensureDayPartitions(app.pool, [{ table: 'event_blocks' }], day)
  await onlyFor(LOCK_WAIT_MS, () =>
    withClientTx(app.pool, async (client) => {
      // Others of this installation may begin as well; writers are waited for, but not for long.
      await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`)
      await beginPacking(client, day, app.clock.now())
    }),
  )
  let packed = 0
  for (;;) {
    const done = await withClientTx(app.pool, (client) => packStep(client, day))
    packed += done
    if (done === 0) break
    await pause()
  }
  await catchUp(app, day, pause)
  await withPatientClient(app.pool, async (client) => {
    await client.query('begin')
    try {
      await indexPacked(client, day)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  })
  await catchUp(app, day, pause)
  await onlyFor(LOCK_WAIT_MS, () =>
    withClientTx(app.pool, async (client) => {
      await lockDay(client, day, LOCK_WAIT_MS)
      while ((await applySome(client, day)) > 0);
      await swapIn(client, day, app.clock.now())
    }),
  )
  await withPatientClient(app.pool, (client) => tidyDay(client, day))
  return packed
}

/** @returns how many rows it packed; 0 at the end of the day */
async function packStep(client: pg.ClientBase, day: string): Promise<number> {
  const { rows, nextBlockId } = await nextRows(client, day, STEP)
  if (rows.length === 0) return 0
  const blocks: { id: number; body: Buffer }[] = []
  const packed: PackedRow[] = []
  let jsons: Buffer[] = []
  let bytes = 0
  const close = async (): Promise<void> => {
    if (jsons.length === 0) return
    blocks.push({ id: nextBlockId + blocks.length, body: await packBlock(jsons) })
    jsons = []
    bytes = 0
    await setImmediate()
  }
  for (const row of rows) {
    const json = jsonOf(row)
    if (json === null) {
      packed.push({ row, blockId: null, start: row.start, end: row.end })
      continue
    }
    if (jsons.length >= MOST_BLOCK_EVENTS || bytes + json.length > MOST_BLOCK_BYTES) await close()
    packed.push({ row, blockId: nextBlockId + blocks.length, start: bytes, end: bytes + json.length })
    jsons.push(json)
    bytes += json.length
  }
  await close()
  await writePacked(client, day, blocks, packed)
  return rows.length
}

/** Null for a body that cannot be opened: it stays as it is. */
function jsonOf({ body, encoding, start, end }: RowToPack): Buffer | null {
  const name = CONTENT_ENCODINGS[encoding]
  if (name === undefined) return null
  try {
    const json = openBody(body, name).subarray(start, end)
    return json.length === end - start && json.length > 0 ? json : null
  } catch {
    return null
  }
}

async function catchUp(app: App, day: string, pause: () => Promise<void>): Promise<void> {
  while ((await withClientTx(app.pool, (client) => applySome(client, day))) > FEW_CHANGES) await pause()
}

async function applySome(client: pg.ClientBase, day: string): Promise<number> {
  const { changes, parts } = await applyChanges(client, day, MOST_CHANGES)
  await removeFromBlocks(client, parts)
  return changes
}

/** As removeParts, on a plain client: these blocks are not to be seen yet, so nobody else is at them. */
async function removeFromBlocks(client: pg.ClientBase, parts: readonly PackedPart[]): Promise<void> {
  for (const ofBlock of Map.groupBy(parts, ({ blockId }) => blockId).values()) {
    const [first] = ofBlock
    if (first === undefined) continue
    const key = [first.day, first.blockId]
    const { rows } = await client.query<{ body: Buffer }>(
      'select body from event_blocks where received_day = $1 and block_id = $2',
      key,
    )
    const left = rows[0] === undefined ? null : blankParts(rows[0].body, ofBlock)
    if (left === null) await client.query('delete from event_blocks where received_day = $1 and block_id = $2', key)
    else
      await client.query('update event_blocks set body = $3 where received_day = $1 and block_id = $2', [...key, left])
  }
}

/** A connection whose statements may take long. */
async function withPatientClient(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await work(client)
  } finally {
    // Its settings are not for others.
    client.release(true)
  }
}

async function onlyFor(ms: number, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '55P03')
      throw new DayBusyError(`the day's table was in use for ${ms} ms`, { cause: error })
    throw error
  }
}
