import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../storage/database.ts'
import type { App } from '../context/app.ts'
import { CONTENT_ENCODINGS } from '../kernel/content-encoding.ts'
import { ensureDayPartitions } from '../storage/day-partitions.ts'
import { blankParts, MAX_BLOCK_BYTES, MAX_BLOCK_EVENTS, openBody, packBlock } from './blocks.ts'
import {
  allowLongStatements,
  applyChanges,
  beginPacking,
  indexPacked,
  limitLockWait,
  lockDay,
  nextRows,
  type PackedRow,
  rewriteBlock,
  type RowToPack,
  swapIn,
  tidyDay,
  writePacked,
} from './pack.queries.ts'
import type { PackedPart } from './packed-bodies.queries.ts'

/**
 * Maximum rows and bytes of one transaction. Packing yields to the event loop after each block, a few milliseconds of
 * work.
 */
const STEP = { rows: 400, bytes: 8 * 1024 * 1024 }
const MAX_CHANGES = 20_000
/** With fewer changes left, the rest is applied under an exclusive lock of the day. */
const FEW_CHANGES = 500
/** Maximum wait of the swap for its lock: all queries of events wait behind it. */
const LOCK_WAIT_MS = 500

/** Another process used the day's table for too long. Call packDay again later. */
export class DayBusyError extends Error {}

/**
 * Rewrites a closed day: writes bodies into blocks and rows without bodies into a new table, which then replaces the
 * day's. Each step is a transaction and starts where the last one ended, also after a kill -9. Events stay readable all
 * the time; a trigger records deleted and late events, which are applied before the swap.
 * @param pause called between steps; it throws to stop
 * @returns the number of events that this call packed
 * @throws DayBusyError when the day is in use; completed steps stay
 */
export async function packDay(app: App, day: string, pause: () => Promise<void>): Promise<number> {
  await ensureDayPartitions(app.db, [{ table: 'event_blocks' }], day)
  await onlyFor(LOCK_WAIT_MS, () =>
    app.tx(async (tx) => {
      // Another process may start as well. Waits for writers, but not for long.
      await limitLockWait(tx, LOCK_WAIT_MS)
      await beginPacking(tx, day, app.clock.now())
    }),
  )
  let packed = 0
  for (;;) {
    const done = await app.tx((tx) => packStep(tx, day))
    packed += done
    if (done === 0) break
    await pause()
  }
  await catchUp(app, day, pause)
  await app.tx(async (tx) => {
    await allowLongStatements(tx)
    await indexPacked(tx, day)
  })
  await catchUp(app, day, pause)
  await onlyFor(LOCK_WAIT_MS, () =>
    app.tx(async (tx) => {
      await lockDay(tx, day, LOCK_WAIT_MS)
      while ((await applySome(tx, day)) > 0);
      await swapIn(tx, day, app.clock.now())
    }),
  )
  await tidy(app, day)
  return packed
}

/** @returns the number of packed rows; 0 at the end of the day */
async function packStep(tx: Tx, day: string): Promise<number> {
  const { rows, nextBlockId } = await nextRows(tx, day, STEP)
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
    if (jsons.length >= MAX_BLOCK_EVENTS || bytes + json.length > MAX_BLOCK_BYTES) await close()
    packed.push({ row, blockId: nextBlockId + blocks.length, start: bytes, end: bytes + json.length })
    jsons.push(json)
    bytes += json.length
  }
  await close()
  await writePacked(tx, day, blocks, packed)
  return rows.length
}

/** The event's JSON; null for a body that cannot be decoded, which stays unchanged. */
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
  while ((await app.tx((tx) => applySome(tx, day))) > FEW_CHANGES) await pause()
}

async function applySome(tx: Tx, day: string): Promise<number> {
  const { changes, parts } = await applyChanges(tx, day, MAX_CHANGES)
  await removeFromBlocks(tx, parts)
  return changes
}

async function removeFromBlocks(tx: Tx, parts: readonly PackedPart[]): Promise<void> {
  for (const ofBlock of Map.groupBy(parts, ({ blockId }) => blockId).values()) {
    const [first] = ofBlock
    if (first !== undefined) await rewriteBlock(tx, first.day, first.blockId, (body) => blankParts(body, ofBlock))
  }
}

async function tidy(app: App, day: string): Promise<void> {
  const session = await app.db.reserve()
  try {
    await tidyDay(session, day)
  } finally {
    // The session is closed because its settings were changed.
    session.release(true)
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
