import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../../platform/storage/database.ts'
import type { App } from '../../platform/context/app.ts'
import { hyphenate } from '../../platform/kernel/ids.ts'
import { CONTENT_ENCODINGS } from '../../platform/kernel/inflate.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import {
  blankParts,
  BlockContent,
  openSoundBlock,
  packBlock,
  PACKED_BLOCK,
  type PackedPart,
  readBlockPart,
} from './blocks.ts'
import {
  allowLongStatements,
  applyChanges,
  identify,
  beginPacking,
  byIssueAndTime,
  copyWithBody,
  indexPacked,
  limitLockWait,
  lockDay,
  nextRows,
  type PackedRow,
  rewriteBlock,
  type RowToPack,
  selectDayBlocks,
  swapIn,
  tidyDay,
  writePacked,
} from './pack.queries.ts'
import {
  CAPPED_TABLE,
  type CappedIssue,
  forgetCapped,
  insertCapped,
  selectCappedIssues,
} from './capped-events.queries.ts'

type StepLimits = { readonly rows: number; readonly bytes: number }

/**
 * Maximum rows and bytes of compressed bodies of one transaction. The more, the more events of one issue come into a
 * block; they are held in memory. Packing yields to the event loop after each block, a few milliseconds of work.
 */
const STEP: StepLimits = { rows: 4_000, bytes: 12 * 1024 * 1024 }
const MAX_CHANGES = 20_000
/** With fewer changes left, the rest is applied under an exclusive lock of the day. */
const FEW_CHANGES = 500
/** Maximum wait of the swap for its lock: all queries of events wait behind it. */
const LOCK_WAIT_MS = 500

/** Which events of an issue with very many are kept. */
export type EventCap = {
  /** Maximum newest events of an issue that are kept of a day, besides its oldest and those of {@link readNamed}; 0 keeps all. */
  readonly max: number
  /** Ids of events that are kept whatever their place, in hexadecimal digits. */
  readonly readNamed: (tx: Tx, issueIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** Deletes the files of events that are left out. */
  readonly deleteFiles: (tx: Tx, projectId: string, eventIds: readonly string[]) => Promise<unknown>
}

type PackDayOptions = { readonly step?: StepLimits; readonly cap?: EventCap }

/** Another process used the day's table for too long. Call packDay again later. */
export class DayBusyError extends Error {}

/**
 * Rewrites a closed day: writes bodies into blocks by issue, and rows without bodies, into new tables, which then replace
 * the day's. Bodies that digestion stored in blocks are packed again: its blocks have few events of one issue. Each step is a transaction and starts where the last one ended, also after a kill -9. Events stay readable all
 * the time; a trigger records deleted and late events, which are applied before the swap. Events beyond `cap` are left out: their
 * ids stay, so that a repeated one does not count twice.
 * @param pause called between steps; it throws to stop
 * @returns the number of events that this call packed
 * @throws DayBusyError when the day is in use; completed steps stay
 */
export async function packDay(
  app: App,
  day: string,
  pause: () => Promise<void>,
  { step = STEP, cap }: PackDayOptions = {},
): Promise<number> {
  await ensureDayPartitions(app.db, [{ table: 'event_blocks' }, CAPPED_TABLE], day)
  await onlyFor(LOCK_WAIT_MS, () =>
    app.tx(async (tx) => {
      // Another process may start as well. Waits for writers, but not for long.
      await limitLockWait(tx, LOCK_WAIT_MS)
      if (await beginPacking(tx, day, app.clock.now())) await forgetCapped(tx, day)
    }),
  )
  const keep = await keepNewest(app, day, cap)
  let packed = 0
  for (;;) {
    const done = await app.tx((tx) => packStep(tx, day, step, keep))
    packed += done.packed
    if (done.isEnd) break
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

/** Leaves out the rows of events that are not kept, and their files. @returns the others */
type Keep = (tx: Tx, rows: readonly RowToPack[]) => Promise<readonly RowToPack[]>

/** Chosen once for a call: a day hardly changes while it is packed, and what arrives meanwhile is kept. */
async function keepNewest(app: App, day: string, cap: EventCap | undefined): Promise<Keep> {
  if (cap === undefined || cap.max === 0) return (_tx, rows) => Promise.resolve(rows)
  const { issues, named } = await app.tx(async (tx) => {
    await allowLongStatements(tx)
    const capped = await selectCappedIssues(tx, day, cap.max)
    return { issues: capped, named: await cap.readNamed(tx, [...capped.keys()].map(hyphenate)) }
  })
  return async (tx, rows) => {
    if (issues.size === 0) return rows
    const { true: kept = [], false: left = [] } = Object.groupBy(rows, (row) =>
      String(isKept(identify(row), issues, named)),
    )
    const ids = left.map(identify)
    await insertCapped(tx, ids)
    for (const [projectId, ofProject] of Map.groupBy(ids, ({ projectId }) => hyphenate(projectId.toString('hex'))))
      await cap.deleteFiles(
        tx,
        projectId,
        ofProject.map(({ eventId }) => eventId.toString('hex')),
      )
    return kept
  }
}

function isKept(
  row: ReturnType<typeof identify>,
  issues: ReadonlyMap<string, CappedIssue>,
  named: ReadonlySet<string>,
): boolean {
  const issue = issues.get(row.issueId.toString('hex'))
  if (issue === undefined) return true
  const { cutoff, oldestId } = issue
  const eventId = row.eventId.toString('hex')
  if (row.occurredUs > cutoff.occurredUs || (row.occurredUs === cutoff.occurredUs && eventId >= cutoff.eventId))
    return true
  return eventId === oldestId || named.has(eventId)
}

/** @returns whether rows are left */
async function packStep(
  tx: Tx,
  day: string,
  step: StepLimits,
  keep: Keep,
): Promise<{ packed: number; isEnd: boolean }> {
  const { rows: found, last } = await nextRows(tx, day, step)
  if (last === null) return { packed: 0, isEnd: true }
  const rows = await takeOutOfBlocks(tx, day, await keep(tx, found))
  rows.sort(byIssueAndTime)
  const blocks: Buffer[] = []
  const packed: PackedRow[] = []
  const content = new BlockContent(PACKED_BLOCK)
  const close = async (): Promise<void> => {
    if (content.events === 0) return
    blocks.push(await packBlock(content.bytes))
    content.clear()
    await setImmediate()
  }
  for (const row of rows) {
    const { body, start, end } = row
    const encoding = CONTENT_ENCODINGS[row.encoding]
    if (content.isFullFor(row)) await close()
    const part = encoding === undefined || body === null ? null : content.add({ body, encoding, start, end })
    packed.push(part === null ? { row, block: null, start, end } : { row, block: blocks.length, ...part })
  }
  await close()
  await writePacked(tx, day, { blocks, rows: packed, last })
  return { packed: rows.length, isEnd: false }
}

/** Blocks of one statement; each is up to half a MiB when it is open. */
const BLOCKS_AT_ONCE = 16
const ZSTD = CONTENT_ENCODINGS.indexOf('zstd')

/**
 * Gives rows of blocks their own body, compressed again, because a step's bodies would not fit into memory otherwise.
 * Leaves out events deleted meanwhile. Rows of a damaged block are unchanged.
 */
async function takeOutOfBlocks(tx: Tx, day: string, rows: readonly RowToPack[]): Promise<RowToPack[]> {
  const taken = rows.filter(({ blockId }) => blockId === null)
  const byBlock = Map.groupBy(
    rows.filter(({ blockId }) => blockId !== null),
    ({ blockId }) => blockId ?? 0,
  )
  const ids = [...byBlock.keys()]
  for (let from = 0; from < ids.length; from += BLOCKS_AT_ONCE) {
    const some = ids.slice(from, from + BLOCKS_AT_ONCE)
    for (const [id, body] of await selectDayBlocks(tx, day, some)) {
      const decoded = openSoundBlock(body)
      for (const row of byBlock.get(id) ?? []) {
        const json = decoded === null ? null : readBlockPart(decoded, row)
        if (decoded === null) taken.push(row)
        else if (json !== null) taken.push({ ...row, ...ownBody(json), blockId: null })
      }
      await setImmediate()
    }
  }
  return taken
}

const ownBody = (json: Buffer) => ({
  body: compressZstd(json),
  encoding: ZSTD,
  start: 0,
  end: json.length,
})

async function catchUp(app: App, day: string, pause: () => Promise<void>): Promise<void> {
  while ((await app.tx((tx) => applySome(tx, day))) > FEW_CHANGES) await pause()
}

async function applySome(tx: Tx, day: string): Promise<number> {
  const { changes, parts, inBlocks } = await applyChanges(tx, day, MAX_CHANGES)
  await removeFromBlocks(tx, parts)
  for (const row of inBlocks) {
    const { block_id: id, body_start: start, body_end: end } = row
    const body = (await selectDayBlocks(tx, day, [id])).get(id)
    const decoded = body === undefined ? null : openSoundBlock(body)
    const json = decoded === null ? null : readBlockPart(decoded, { start, end })
    if (json === null) continue
    await copyWithBody(tx, day, row, { ...ownBody(json), length: json.length })
  }
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
