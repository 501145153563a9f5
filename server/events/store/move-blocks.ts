import { createHash } from 'node:crypto'
import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ObjectStore, S3Error } from '../../platform/objects/object-store.ts'
import { blankSoundParts } from './blocks.ts'
import { segmentKey } from './segment-reader.ts'
import {
  BlocksChangedError,
  deleteSegment,
  giveUpSegment,
  insertSegment,
  markGarbage,
  markMoved,
  type Placed,
  pointToSegment,
  replaceSegment,
  type Segment,
  selectContent,
  selectDaysToMove,
  selectGarbage,
  selectHotBlocks,
  selectSegmentsToRewrite,
  vacuumBlocks,
} from './segments.queries.ts'

/**
 * Moves the bodies of packed days to object storage, and deletes what is deleted there. A body leaves the database in the
 * transaction that refers to its copy, after the copy was read back. Objects are written under new names only and their rows
 * before them, so that whatever an ended process leaves is known and collected.
 */

/** An event that is deleted later costs reading and writing a segment. */
const SEGMENT_BYTES = 8 * 1024 * 1024
/** A segment at half a megabit per second. */
const WRITE_LIMITS = { attempts: 4, timeoutMs: 150_000 }
const SEGMENTS_AT_ONCE = 20
const MAX_MS = 8 * 60_000

export const moveBlocksTask = defineTask({
  name: 'move-blocks',
  payload: NoPayload,
  cron: '*/10 * * * *',
  isSlow: true,
  async run(app, _payload, signal) {
    const { url, afterDays } = app.config.blocks
    const { s3 } = app.config
    if (url === null || s3 === null) return
    const store = new ObjectStore(url, s3, { clock: app.clock, signal, ...WRITE_LIMITS })
    const until = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)])
    try {
      await rewriteSegments(app, store, until)
      await collectGarbage(app, store, until)
      for (const day of await selectDaysToMove(app.db, dayPlus(utcDay(app.clock.now()), -afterDays)))
        await moveDay(app, store, day, until)
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      app.log.error(
        { problem: error.message },
        'bodies of events cannot be moved to object storage; the next run tries again',
      )
    }
  },
})

/** @returns the number of blocks that this call moved; the next call continues */
export async function moveDay(app: App, store: ObjectStore, day: string, signal: AbortSignal): Promise<number> {
  let moved = 0
  while (!signal.aborted) {
    const draft = await app.tx(async (tx) => {
      const blocks = await selectHotBlocks(tx, day, SEGMENT_BYTES)
      if (blocks.length === 0) return null
      const laidOut = layOut(day, blocks)
      await insertSegment(tx, laidOut.segment, app.clock.now())
      return { blocks, ...laidOut }
    })
    if (draft === null) {
      await markMoved(app.db, day, app.clock.now())
      break
    }
    const { blocks, segment, places, content } = draft
    await writeSegment(store, segment, content)
    const pointed = blocks.flatMap((block, index) => ({ ...block, start: 0, end: 0, ...places[index] }))
    try {
      await app.tx((tx) => pointToSegment(tx, segment, pointed, app.clock.now()))
    } catch (error) {
      if (!(error instanceof BlocksChangedError)) throw error
      // Events were deleted meanwhile, and are in the object.
      await giveUpSegment(app.db, segment.id, app.clock.now())
      break
    }
    moved += blocks.length
  }
  if (moved > 0) {
    const session = await app.db.reserve()
    try {
      await vacuumBlocks(session, day)
    } finally {
      session.release(true)
    }
    app.log.info({ day, blocks: moved }, 'bodies of events are moved to object storage')
  }
  return moved
}

function layOut(
  day: string,
  blocks: readonly { readonly id: number; readonly body: Buffer }[],
): { segment: Segment; places: Placed[]; content: Buffer<ArrayBuffer> } {
  let at = 0
  const places = blocks.map(({ id, body }) => ({ id, start: at, end: (at += body.length) }))
  const content = Buffer.concat(blocks.map(({ body }) => body))
  return { segment: { id: newId(), day, sha256: digestOf(content), bytes: content.length }, places, content }
}

/** Writes an object whose row is there, and reads it back. */
async function writeSegment(store: ObjectStore, segment: Segment, content: Buffer<ArrayBuffer>): Promise<void> {
  const key = segmentKey({ day: segment.day, segmentId: segment.id })
  await store.put(key, content)
  if (!isIntact(segment, await store.get(key)))
    throw new S3Error('Changed', `${store.name} does not return what was written. Look at the store.`, false)
}

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Whether the object of a segment is there, as it was written. */
export const isIntact = ({ sha256 }: Segment, content: Buffer | null): content is Buffer =>
  content !== null && digestOf(content) === sha256

/** Writes segments with deleted events again, without them. @returns how many */
export async function rewriteSegments(app: App, store: ObjectStore, signal: AbortSignal): Promise<number> {
  let rewritten = 0
  for (let hasFailed = false; !hasFailed;) {
    const segments = await selectSegmentsToRewrite(app.db, SEGMENTS_AT_ONCE)
    for (const segment of segments) {
      if (signal.aborted) return rewritten
      try {
        await rewriteSegment(app, store, segment)
        rewritten++
      } catch (error) {
        if (!(error instanceof S3Error)) throw error
        hasFailed = true
        app.log.error(
          { problem: error.message },
          'deleted events cannot be removed from object storage; the next run tries again',
        )
      }
    }
    if (segments.length < SEGMENTS_AT_ONCE) break
  }
  return rewritten
}

async function rewriteSegment(app: App, store: ObjectStore, segment: Segment): Promise<void> {
  const { blocks, removals } = await selectContent(app.db, segment)
  const content = await store.get(segmentKey({ day: segment.day, segmentId: segment.id }))
  // It may be there again when the store or its address is corrected.
  if (!isIntact(segment, content))
    throw new S3Error(
      'Changed',
      `${store.name} has lost or changed ${segmentKey({ day: segment.day, segmentId: segment.id })}, from which events are to be deleted. Check BLOCKS_URL and the store. If it is lost for good, see "bodies forget-lost".`,
      false,
    )
  const byBlock = Map.groupBy(removals, ({ blockId }) => blockId)
  const left = blocks.flatMap(({ id, start, end }) => {
    const body = content.subarray(start, end)
    const parts = byBlock.get(id)
    const kept = parts === undefined ? body : blankSoundParts(body, parts)
    // A damaged block is deleted whole: it may hold what must be deleted, and cannot be read.
    return kept === null || kept === undefined ? [] : [{ id, body: kept }]
  })
  const next = left.length === 0 ? null : layOut(segment.day, left)
  if (next !== null) {
    await insertSegment(app.db, next.segment, app.clock.now())
    await writeSegment(store, next.segment, next.content)
  }
  try {
    await app.tx((tx) =>
      replaceSegment(tx, segment, next?.segment ?? null, next?.places ?? [], removals, app.clock.now()),
    )
  } catch (error) {
    if (!(error instanceof BlocksChangedError)) throw error
    if (next !== null) await giveUpSegment(app.db, next.segment.id, app.clock.now())
  }
}

/** Deletes objects that no block refers to. @returns how many */
export async function collectGarbage(app: App, store: ObjectStore, signal: AbortSignal): Promise<number> {
  await markGarbage(app.db, app.clock.now())
  let deleted = 0
  for (;;) {
    const garbage = await selectGarbage(app.db, SEGMENTS_AT_ONCE)
    for (const { id, day } of garbage) {
      if (signal.aborted) return deleted
      await store.remove(segmentKey({ day, segmentId: id }))
      await deleteSegment(app.db, id)
      deleted++
    }
    if (garbage.length < SEGMENTS_AT_ONCE) return deleted
  }
}
