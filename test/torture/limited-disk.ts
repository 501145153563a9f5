import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A file system of a few MiB that a test fills to the last byte. */
export type LimitedDisk = {
  readonly path: string
  /** Writes until nothing more fits. @returns the bytes that are still free */
  fill(): number
  /** Makes room again. */
  empty(): void
  unmount(): void
}

/** @returns why it cannot be mounted, as `missing`: only root on Linux may */
export function mountLimitedDisk(path: string, sizeMiB: number): LimitedDisk | { readonly missing: string } {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { missing: 'only root on Linux may mount a small disk' }
  mkdirSync(path)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=755`, 'tmpfs', path])
  if (mounted.status !== 0)
    return { missing: `this machine does not let root mount a disk (${mounted.stderr.toString().trim()})` }
  const ballast = join(path, 'ballast')
  return {
    path,
    fill() {
      writeUntilFull(ballast)
      const { bavail, bsize } = statfsSync(path)
      return bavail * bsize
    },
    empty: () => rmSync(ballast, { force: true }),
    unmount: () => void spawnSync('umount', ['-l', path]),
  }
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (const bytes of [4 * 1024 * 1024, 4096]) {
      const piece = Buffer.alloc(bytes, 1)
      try {
        for (;;) writeSync(file, piece)
      } catch {
        // Full for pieces of this size.
      }
    }
  } finally {
    closeSync(file)
  }
}
