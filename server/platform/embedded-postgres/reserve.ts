import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

/** Three segments of PostgreSQL's log: enough to replay it, write a checkpoint and answer queries. */
const RESERVE_BYTES = 48 * 1024 * 1024
/** The reserve is written only when this many times its size is free. */
const ROOM_FACTOR = 8
const PIECE_BYTES = 1024 * 1024
const FILE = 'reserve'
const FIRST_AFTER_MS = 5_000
const EVERY_MS = 30_000

/** Disk space that is released when the disk is full (docs/decisions/database-outages.md). */
export type Reserve = {
  /** Deletes the file immediately. */
  release(): void
  close(): void
}

/**
 * Keeps a file of {@link RESERVE_BYTES} beside the cluster. PostgreSQL ends when it cannot extend its log, and cannot
 * start again on a full disk: then the file is deleted, so that the database starts and can be read. It is written
 * again when enough space is free.
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

/** Writes the reserve unless it exists or too little space is free. */
export async function fillReserve(dataDir: string): Promise<void> {
  const path = join(dataDir, FILE)
  const existing = await stat(path).catch(() => null)
  if (existing?.size === RESERVE_BYTES) return
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < RESERVE_BYTES * ROOM_FACTOR) return
  // Random bytes, because some file systems do not allocate zeros.
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
