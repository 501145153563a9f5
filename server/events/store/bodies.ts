import type { App } from '../../platform/context/app.ts'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import type { ObjectStore } from '../../platform/objects/object-store.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { isIntact } from './move-blocks.ts'
import { isPacking } from './pack.queries.ts'
import { segmentKey } from './segment-reader.ts'
import {
  forgetSegment,
  isRemovalPending,
  type Segment,
  selectSegments,
  selectSegmentsToRewrite,
} from './segments.queries.ts'

export { hasMovedBodies } from './segments.queries.ts'

/** Where bodies are as a whole: what is still to be deleted, and what object storage has lost or has too much. */

/** Whether deleted events may still be stored: in the copy of a day that is being packed, or in object storage. */
export const isDeletionPending = async (on: Connection): Promise<boolean> =>
  (await isPacking(on)) || isRemovalPending(on)

/** Objects written during the comparison are neither lost nor unknown. */
const LOST_AFTER_MS = HOUR_MS
const UNKNOWN_AFTER_MS = DAY_MS
/** Objects that are read as well: those that cannot be rewritten are there, perhaps, but changed. */
const MAX_READ = 20

export type ObjectComparison = {
  /** Number of objects in use. */
  readonly used: number
  /** In use, and not there, or with other content. */
  readonly lost: readonly Segment[]
  /** Keys of objects that no row knows. */
  readonly unknown: readonly string[]
}

/** Compares the list of objects with what the database refers to. @throws S3Error */
export async function compareObjects(db: Connection, store: ObjectStore, now: Date): Promise<ObjectComparison> {
  const listed = await store.list('blocks/')
  const segments = await selectSegments(db)
  const bytesOf = new Map(listed.map(({ key, bytes }) => [key, bytes]))
  const isBefore = (time: Date, ms: number): boolean => time.getTime() < now.getTime() - ms
  const used = segments.filter(({ usedSince }) => usedSince !== null)
  const lost = used.filter(
    (one) => one.usedSince !== null && isBefore(one.usedSince, LOST_AFTER_MS) && bytesOf.get(keyOf(one)) !== one.bytes,
  )
  const lostIds = new Set(lost.map(({ id }) => id))
  const changed: Segment[] = []
  for (const segment of await selectSegmentsToRewrite(db, MAX_READ))
    if (!lostIds.has(segment.id) && !isIntact(segment, await store.get(keyOf(segment)))) changed.push(segment)
  const known = new Set(segments.map(keyOf))
  return {
    used: used.length,
    lost: [...lost, ...changed],
    unknown: listed
      .filter(({ key, modifiedAt }) => !known.has(key) && isBefore(modifiedAt, UNKNOWN_AFTER_MS))
      .map(({ key }) => key),
  }
}

const keyOf = ({ id, day }: Segment): string => segmentKey({ day, segmentId: id })

/**
 * Gives up objects that are lost for good, so that deletions do not wait for them: deletes the events whose bodies were in
 * them. Counts of issues stay, as with retention.
 * @returns number of events
 */
export async function forgetLost(app: App, lost: readonly Segment[]): Promise<number> {
  let events = 0
  for (const segment of lost) events += await app.tx((tx) => forgetSegment(tx, segment, app.clock.now()))
  return events
}
