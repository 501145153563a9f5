import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { PositionedFile } from './built-index.ts'

/** Opens a file for reading by position, as long as `work` takes. */
export function withFile<T>(path: string, work: (file: PositionedFile) => T): T {
  const handle = openSync(path, 'r')
  try {
    return work({
      sizeBytes: fstatSync(handle).size,
      read(position, length) {
        const bytes = Buffer.allocUnsafe(length)
        const read = readSync(handle, bytes, 0, length, position)
        return read === length ? bytes : bytes.subarray(0, read)
      },
    })
  } finally {
    closeSync(handle)
  }
}
