import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

/** Three segments of PostgreSQL's log: enough to replay it, to write a checkpoint, and to go on answering people. */
const RESERVE_BYTES = 48 * 1024 * 1024
/** Set aside only where this many times as much is left for everybody else. */
const ROOM_FACTOR = 8
const PIECE_BYTES = 1024 * 1024
const FILE = 'reserve'
const FIRST_AFTER_MS = 5_000
const EVERY_MS = 30_000

/** Room on the disk that only a full disk gets (docs/decisions/database-outages.md). */
export type Reserve = {
  /** Gives the room back to the file system, at once. */
  release(): void
  close(): void
}

/**
 * Keeps a file of {@link RESERVE_BYTES} beside the cluster. PostgreSQL ends itself when it cannot extend its log, and
 * cannot start again without room: the file goes then, and the database comes back to be read from. It is written again
 * when there is plenty.
 */
export function keepReserve(dataDir: string): Reserve {
  const path = join(dataDir, FILE)
  let closed = false
  let writing: Promise<void> = Promise.resolve()
  const keep = (): void => {
    writing = writing.then(() => (closed ? undefined : fillReserve(dataDir))).catch(() => {})
  }
  const first = setTimeout(keep, FIRST_AFTER_MS)
  const timer = setInterval(keep, EVERY_MS)
  first.unref()
  timer.unref()
  return {
    release: () => rmSync(path, { force: true }),
    close() {
      closed = true
      clearTimeout(first)
      clearInterval(timer)
    },
  }
}

/** Writes the reserve unless it is there, or there is no plenty. */
export async function fillReserve(dataDir: string): Promise<void> {
  const path = join(dataDir, FILE)
  const there = await stat(path).catch(() => null)
  if (there?.size === RESERVE_BYTES) return
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < RESERVE_BYTES * ROOM_FACTOR) return
  // Not zeros, which some file systems keep for nothing.
  const piece = randomBytes(PIECE_BYTES)
  const draft = `${path}.draft`
  const file = await open(draft, 'w', 0o600)
  try {
    for (let written = 0; written < RESERVE_BYTES; written += PIECE_BYTES) await file.write(piece)
    await file.datasync()
    await rename(draft, path)
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}
