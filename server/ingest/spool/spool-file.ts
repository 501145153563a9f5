import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { withinGrace } from '../../platform/kernel/abortable.ts'
import { errorText } from '../../platform/kernel/errors.ts'
import { type FileRow, firstIdAt, HEAD_BYTES, readRecord } from './file-records.ts'
import type { Database } from '../../platform/storage/database.ts'
import { type FileSync, startFileSync } from './file-sync.ts'
import { FileSegment } from './file-segment.ts'
import { MAX_MOVED_BYTES, moveRows, moveSegment, recoverRows, segmentPaths, spoolFolder } from './move-file-rows.ts'
import { areCommitsDurable, deleteSettled } from './spool.queries.ts'

/** A row to be written, with what the backlog says about it. */
export type NewFileRow = Omit<FileRow, 'id'> & { readonly projectId: string; readonly orgId: string | null }

/** A row that is not settled. */
export type FileBacklogRow = Omit<NewFileRow, 'bytes'>

/**
 * Acknowledged rows on their way to the digest threads of this process, beside the table: a sequential write and a sync cost
 * less than an insert and a delete. The file takes only rows that have a place in a thread, so that it is read after trouble
 * only: then {@link SpoolFile.move} writes them into the table, which is the one way out. A batch notes the rows that it
 * records in `spool_settled`, in its transaction.
 */
export type SpoolFile = {
  /**
   * Writes rows; resolves when they are on disk, with their ids, or with null when an error of the disk made it write them to
   * the table. Then it takes no rows for a while.
   * @returns null when the table has to take them
   * @throws the error of the database after one of the disk: the rows may be stored
   */
  append(rows: readonly NewFileRow[]): Promise<number[] | null> | null
  /** For rows that a batch recorded. */
  settled(ids: readonly number[]): void
  /** Moves rows that no digest thread has any more into the table; retries until the database has them. */
  move(ids: Iterable<number>): void
  waiting(): Iterable<FileBacklogRow>
  /** Requests that it took, and rows that were moved, since the start. */
  readonly figures: { entries: number; moved: number }
  /** Moves the rest into the table. To be called when nothing is written or digested any more. */
  close(): Promise<void>
}

/** 128 MiB are more than one digest thread has in hand. What several have beyond it takes the table. */
const MAX_SEGMENTS = 16
/** A disk that takes longer counts as failed. */
const MAX_APPEND_MS = 10_000
/** After an error of the disk. */
const PAUSE_MS = 600_000
const MOVE_AGAIN_MS = 1_000
const RECOVER_AGAIN_MS = 60_000
/** A segment is made when so much room is left in the present one. */
const NEXT_FROM_BYTES = 4 * 1024 * 1024
const CHECK_EVERY_MS = 10_000
/** Rows that wait so long have no working reader: when none is settled meanwhile, and in any case. */
const MAX_STANDSTILL_MS = 60_000
const MAX_WAIT_MS = 600_000

type Place = FileBacklogRow & {
  readonly segment: FileSegment
  readonly at: number
  readonly length: number
  readonly writtenAtMs: number
}

type FileOptions = { readonly maxSegments: number; readonly checkEveryMs: number; readonly syncs: FileSync }

/** By data directory, which one service uses at a time. */
const openFiles = new Map<string, SpoolFile>()

/**
 * Moves everything that the file acknowledged before this call and no batch recorded into the table, also beside the service
 * that writes it.
 * @throws Error when a segment cannot be read
 */
export async function emptySpoolFile(db: Database, dataDir: string): Promise<void> {
  for (const path of segmentPaths(dataDir)) await moveSegment(db, path)
}

/** Rows that wait in the file of this process. One that moves is in the table before it leaves: read the table afterwards. */
export const waitingInFile = ({ config }: Pick<App, 'config'>): FileBacklogRow[] => [
  ...(openFiles.get(config.dataDir)?.waiting() ?? []),
]

/**
 * Recovers what the process before left, and opens the file, which has no segments before its first row.
 * @param options whether this process writes to it; the others are for tests
 * @returns null when it does not, when the file could not be recovered, which is tried again each minute, when commits need not
 * be on disk, or when another service of this process uses it, as in tests
 * @throws Error when the database does not answer
 */
export async function openSpoolFile(
  app: App,
  { isUsed = true, ...options }: Partial<FileOptions> & { readonly isUsed?: boolean } = {},
): Promise<SpoolFile | null> {
  if (openFiles.has(app.config.dataDir)) return null
  if (!(await recoverRows(app))) {
    const retrying = setInterval(() => {
      void recoverRows(app).then((isDone) => isDone && clearInterval(retrying))
    }, RECOVER_AGAIN_MS)
    retrying.unref()
    return null
  }
  // A batch that a power cut takes back must not have freed the place of its rows in the file.
  if (!isUsed || !(await areCommitsDurable(app.db))) return null
  return open(app, { maxSegments: MAX_SEGMENTS, checkEveryMs: CHECK_EVERY_MS, syncs: startFileSync(), ...options })
}

function open(app: App, { maxSegments, checkEveryMs, syncs }: FileOptions): SpoolFile {
  const { db, clock, log } = app
  const { dataDir } = app.config
  const paths = segmentPaths(dataDir)
  const segments = paths.flatMap((path) => FileSegment.open(path, syncs) ?? [])
  const free = [...segments]
  const places = new Map<number, Place>()
  /** How many of them are in a segment. */
  const waiting = new Map<FileSegment, number>()
  const toMove = new Set<number>()
  const figures = { entries: 0, moved: 0 }
  let newest = Math.max(0, ...paths.map((path) => Number(basename(path).split('-')[1])))
  let current: FileSegment | null = null
  let nextId = firstIdAt(clock.now())
  let isCreating = false
  let isClosed = false
  let pausedUntilMs = 0
  let settledAtMs = 0
  let moving: Promise<void> | null = null
  let canMove = true

  const pause = (error: unknown, problem: string): void => {
    pausedUntilMs = clock.monotonicMs() + PAUSE_MS
    log.error({ err: errorText(error), retry_in_s: PAUSE_MS / 1000 }, `${problem}; the table takes requests meanwhile`)
  }
  const create = async (): Promise<void> => {
    if (isCreating || segments.length >= maxSegments) return
    isCreating = true
    try {
      const segment = await FileSegment.create(join(spoolFolder(dataDir), `segment-${++newest}`), syncs)
      if (isClosed) return segment.close()
      segments.push(segment)
      free.push(segment)
    } catch (error) {
      pause(error, 'a segment of the spool file cannot be made')
    } finally {
      isCreating = false
    }
  }
  /** Segments that are not written again before the next start. */
  const kept = new Set<FileSegment>()
  const keep = (segment: FileSegment): void => {
    kept.add(segment)
    if (current === segment) current = null
  }
  const freeIfSettled = (segment: FileSegment): void => {
    if (segment === current || kept.has(segment) || (waiting.get(segment) ?? 0) > 0) return
    waiting.delete(segment)
    if (!segment.isBroken) {
      free.push(segment)
      return
    }
    segments.splice(segments.indexOf(segment), 1)
    segment.remove()
  }
  const segmentFor = (rows: number, bytes: number): FileSegment | null => {
    if (isClosed || clock.monotonicMs() < pausedUntilMs) return null
    // The next one is ready before this one is full.
    if (free.length === 0 && current?.hasRoom(rows, bytes + NEXT_FROM_BYTES) !== true) void create()
    if (current?.hasRoom(rows, bytes) === true) return current
    const next = free.shift()
    if (next === undefined) return null
    const full = current
    current = next
    if (full !== null) freeIfSettled(full)
    const { ids } = next
    next.begin()
    if (ids !== null) stale.set(next, ids)
    return next.hasRoom(rows, bytes) ? next : null
  }
  /** Ids of the last use of a segment, until its first record is on disk. */
  const stale = new Map<FileSegment, NonNullable<FileSegment['ids']>>()
  const forgetStale = async (segment: FileSegment): Promise<void> => {
    const ids = stale.get(segment)
    if (ids === undefined) return
    stale.delete(segment)
    // After a failure they stay until the next start.
    await deleteSettled(db, ids.first, ids.last).catch(() => {})
  }
  const write = async (segment: FileSegment, rows: readonly (NewFileRow & FileRow)[]): Promise<number[] | null> => {
    const ids = rows.map(({ id }) => id)
    const writtenAtMs = clock.monotonicMs()
    let at = segment.end
    for (const { id, bytes, ...row } of rows) {
      const length = HEAD_BYTES + bytes.length
      places.set(id, { ...row, segment, at, length, writtenAtMs })
      at += length
    }
    waiting.set(segment, (waiting.get(segment) ?? 0) + rows.length)
    try {
      if (!(await withinGrace(MAX_APPEND_MS, segment.append(rows)))) throw new Error('a write to it took too long')
    } catch (error) {
      segment.isBroken = true
      if (current === segment) current = null
      pause(error, 'the spool file cannot be written')
      // Whatever of it reached the disk: the next start finds the rows settled.
      await moveRows(db, rows).finally(() => leave(ids))
      return null
    }
    for (const { entryCount } of rows) figures.entries += entryCount
    void forgetStale(segment)
    return ids
  }

  const leave = (ids: Iterable<number>): void => {
    for (const id of ids) {
      const place = places.get(id)
      if (place === undefined) continue
      places.delete(id)
      waiting.set(place.segment, (waiting.get(place.segment) ?? 0) - 1)
      freeIfSettled(place.segment)
    }
  }
  /** Rows that could not be read. They wait, and the next start tries again. */
  const unreadable = new Set<number>()
  const read = (id: number): FileRow | null => {
    const place = places.get(id)
    if (place === undefined) return null
    try {
      const record = readRecord(place.segment.read(place.at, place.length), 0)
      if (record?.row.id === id) return record.row
      throw new Error('the record is not whole')
    } catch (error) {
      unreadable.add(id)
      keep(place.segment)
      const { projectId, entryCount } = place
      log.error(
        { err: errorText(error), project_id: projectId, requests: entryCount },
        'acknowledged requests cannot be read from the spool file',
      )
      return null
    }
  }
  const moveWaiting = async (): Promise<void> => {
    while (toMove.size > 0) {
      const ids: number[] = []
      const rows: FileRow[] = []
      let bytes = 0
      for (const id of toMove) {
        const row = read(id)
        ids.push(id)
        if (row !== null) rows.push(row)
        bytes += row?.bytes.length ?? 0
        if (bytes >= MAX_MOVED_BYTES) break
      }
      figures.moved += await moveRows(db, rows)
      leave(rows.map(({ id }) => id))
      for (const id of ids) toMove.delete(id)
    }
  }
  const startMoving = (): void => {
    moving ??= moveWaiting()
      .then(
        () => void (canMove = true),
        async (error: unknown) => {
          // Once per outage.
          if (canMove)
            log.warn({ err: errorText(error) }, 'rows of the spool file cannot be moved into the table; retrying')
          canMove = false
          if (!isClosed) await delay(MOVE_AGAIN_MS, undefined, { ref: false })
        },
      )
      .finally(() => {
        moving = null
        if (toMove.size > 0 && !isClosed) startMoving()
      })
  }
  const move = (ids: Iterable<number>): void => {
    for (const id of ids) if (places.has(id) && !unreadable.has(id)) toMove.add(id)
    if (toMove.size > 0) startMoving()
  }
  const checking = setInterval(() => {
    const nowMs = clock.monotonicMs()
    const isStill = nowMs - settledAtMs >= MAX_STANDSTILL_MS
    const maxMs = isStill ? MAX_STANDSTILL_MS : MAX_WAIT_MS
    const late = [...places].filter(([id, { writtenAtMs }]) => nowMs - writtenAtMs >= maxMs && !unreadable.has(id))
    if (late.length > 0)
      log.warn({ rows: late.length }, 'rows of the spool file were not recorded in time and move into the table')
    // A thread may still try to record them, so nothing may forget that they are settled.
    for (const [, { segment }] of late) keep(segment)
    move(late.map(([id]) => id))
  }, checkEveryMs)
  checking.unref()

  const file: SpoolFile = {
    append(rows) {
      const segment = segmentFor(
        rows.length,
        rows.reduce((sum, { bytes }) => sum + bytes.length, 0),
      )
      return segment === null
        ? null
        : write(
            segment,
            rows.map((row) => ({ ...row, id: nextId++ })),
          )
    },
    settled(ids) {
      settledAtMs = clock.monotonicMs()
      leave(ids)
    },
    move(ids) {
      if (!isClosed) move(ids)
    },
    waiting: () => places.values(),
    figures,
    async close() {
      isClosed = true
      clearInterval(checking)
      await moving
      move(places.keys())
      await moving
      for (const segment of segments) {
        if ((waiting.get(segment) ?? 0) === 0) await segment.clear()
        segment.close()
      }
      await syncs.close()
      openFiles.delete(dataDir)
    },
  }
  openFiles.set(dataDir, file)
  return file
}
