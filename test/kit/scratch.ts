import { mkdtempSync, realpathSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 2 * 2 ** 30

/**
 * A new folder for databases, in memory where there is room: copying one takes 20 ms of processor time there and 400 ms in
 * a journaling file system. The caller removes it.
 */
export function databaseFolder(prefix: string): string {
  return hasRoomInMemory() ? mkdtempSync(join(MEMORY, prefix)) : realpathSync(mkdtempSync(join(tmpdir(), prefix)))
}

/** Whether large files of a test may be in memory. Containers often have 64 MB of it. */
export function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    // Linux only.
    return false
  }
}
