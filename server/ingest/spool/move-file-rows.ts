import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { errorText } from '../../platform/kernel/errors.ts'
import type { Database, Tx } from '../../platform/storage/database.ts'
import { spoolPart } from './entry.ts'
import { type FileRow, HEAD_BYTES, readRecords } from './file-records.ts'
import { clearSegment } from './file-segment.ts'
import { clearSettled, insertRows, insertSettled, MAX_INSERT_ROWS, prepareMove } from './spool.queries.ts'

/** While another transaction settles the same rows: half a minute. */
const MAX_TRIES = 20
const TRY_AGAIN_MS = 500
/** Maximum bytes of one transaction. */
export const MAX_MOVED_BYTES = 4 * 1024 * 1024

export const spoolFolder = (dataDir: string): string => join(dataDir, 'spool')

/** The segments of the spool's file; none where there never was one. */
export function segmentPaths(dataDir: string): string[] {
  const folder = spoolFolder(dataDir)
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => /^segment-\d+$/.test(name))
  return names.map((name) => join(folder, name))
}

/**
 * Moves rows from the file into the table, apart from those that are settled: the key of `spool_settled` decides between
 * this and a batch that records a row at the same time.
 * @param isWritten whether the rows are still in the file, asked when no batch can settle them any more: those that a
 * segment held before it was written again are settled, and nothing says so
 * @returns the number of moved rows
 */
export async function moveRows(
  db: Database,
  rows: readonly FileRow[],
  isWritten: () => boolean = () => true,
): Promise<number> {
  let moved = 0
  for (let from = 0; from < rows.length;) {
    let [to, bytes] = [from, 0]
    while (to < rows.length && to - from < MAX_INSERT_ROWS && bytes < MAX_MOVED_BYTES)
      bytes += rows[to++]?.bytes.length ?? 0
    const piece = rows.slice(from, to)
    from = to
    for (let tries = 1; ; tries++) {
      try {
        moved += await db.tx((tx) => movePiece(tx, piece, isWritten))
        break
      } catch (error) {
        if (error instanceof WrittenAgainError) return moved
        if (!isLockTimeout(error) || tries === MAX_TRIES) throw error
        await delay(TRY_AGAIN_MS)
      }
    }
  }
  return moved
}

const isLockTimeout = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '55P03'

async function movePiece(tx: Tx, piece: readonly FileRow[], isWritten: () => boolean): Promise<number> {
  await prepareMove(tx)
  const ids = piece.map(({ id }) => id)
  const mine = await insertSettled(tx, ids)
  const left = piece.filter(({ id }) => mine.has(id))
  if (left.length === 0) return 0
  if (!isWritten()) throw new WrittenAgainError()
  const parts = new Set(left.map(({ projectNumber }) => spoolPart(projectNumber)))
  await insertRows(tx, left.map(tableRow), [...parts])
  return left.length
}

/** The segment is in its next use, so all rows of the one before are settled. Rolls back. */
class WrittenAgainError extends Error {}

const tableRow = ({ projectNumber, receivedAtMs, entryCount, bodyBytes, bytes }: FileRow) => ({
  part: spoolPart(projectNumber),
  projectNumber,
  receivedAt: new Date(receivedAtMs),
  entryCount,
  entries: bytes.subarray(bodyBytes),
  body: bytes.subarray(0, bodyBytes),
})

/**
 * Moves what a segment acknowledged and no batch recorded into the table, also beside the service that writes it.
 * @returns the number of moved rows
 * @throws Error when it cannot be read
 */
export async function moveSegment(db: Database, path: string): Promise<number> {
  if (readHead(path).every((byte) => byte === 0)) return 0
  const segment = readFileSync(path)
  const head = segment.subarray(0, HEAD_BYTES)
  return await moveRows(db, readRecords(segment), () => readHead(path).equals(head))
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  const file = openSync(path, 'r')
  try {
    readSync(file, head, 0, HEAD_BYTES, 0)
    return head
  } finally {
    closeSync(file)
  }
}

/**
 * At the start, before the intake: what an ended process acknowledged moves into the table, and the file is empty. No other
 * process uses it, and its database was started since, so no batch of the ended process can still commit.
 * @returns false when a segment could not be read, or the database could not take its rows: then it stays as it is
 */
export async function recoverRows({ db, config, log }: App): Promise<boolean> {
  const paths = segmentPaths(config.dataDir)
  let isWhole = true
  const tried = async (what: { readonly path?: string }, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      isWhole = false
      log.error(
        { err: errorText(error), ...what },
        'the spool file cannot be recovered: acknowledged requests may wait in it; retrying each minute',
      )
    }
  }
  for (const path of paths) {
    await tried({ path }, async () => {
      const rows = await moveSegment(db, path)
      if (rows > 0) log.info({ path, rows }, 'acknowledged requests of the process before wait in the spool again')
      clearSegment(path)
    })
  }
  if (isWhole && paths.length > 0) await tried({}, () => clearSettled(db))
  return isWhole
}
