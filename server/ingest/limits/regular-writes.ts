import { errorText } from '../../platform/kernel/errors.ts'
import type { App } from '../../platform/context/app.ts'

export type RegularWrites = {
  /** Writes now, after a write that is under way. */
  readonly flush: () => Promise<void>
  /** Writes a last time. */
  readonly close: () => Promise<void>
}

/**
 * Writes at intervals what is counted in memory, because a flood of requests must not cause a flood of writes. One write
 * runs at a time; a failure is logged, and `write` decides what it tries again.
 */
export function writeRegularly(
  app: App,
  {
    everyMs,
    failed,
    write,
  }: { readonly everyMs: number; readonly failed: string; readonly write: () => Promise<void> },
): RegularWrites {
  let writing: Promise<void> = Promise.resolve()
  let isWriting = false
  const run = async (): Promise<void> => {
    isWriting = true
    try {
      await write()
    } catch (error) {
      app.log.warn({ err: errorText(error) }, failed)
    }
    isWriting = false
  }
  const flush = (): Promise<void> => (writing = writing.then(run))
  const timer = setInterval(() => {
    if (!isWriting) void flush()
  }, everyMs)
  timer.unref()
  return {
    flush,
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
