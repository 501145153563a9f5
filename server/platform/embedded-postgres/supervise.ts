import { setTimeout as delay } from 'node:timers/promises'
import { abortable } from '../kernel/abortable.ts'
import { DiskFullError } from '../storage/database-start-error.ts'
import { stopOrphans } from './orphans.ts'
import type { Postmaster } from './postmaster.ts'

/** Maximum restarts within a minute. */
const RESTARTS_PER_MINUTE = 3
/** Pause between attempts on a full disk. They never end, because an operator will free space. */
const FULL_DISK_PAUSE_MS = 1_000

export type Supervisor = {
  stop(): Promise<void>
  /** Resolves with the reason when the server could not be started again. */
  readonly failed: Promise<string>
}

/** Starts the server again, at the same address, when it ends by itself. */
export function supervise(
  first: Postmaster,
  options: {
    /** Must leave nothing running when the signal aborts. */
    start: (signal: AbortSignal) => Promise<Postmaster>
    clusterDir: string
    log: (line: string) => void
    /** Whether the server recently logged that the disk is full. Such ends do not count as restarts. */
    diskWasFull: () => boolean
  },
): Supervisor {
  const { start, clusterDir, log, diskWasFull } = options
  let current = first
  const stopping = new AbortController()
  let restarting: Promise<void> | undefined
  const restarts: number[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  const startAgain = async (reason: string): Promise<void> => {
    const now = performance.now()
    if (!diskWasFull()) restarts.push(now)
    if (restarts.filter((at) => now - at < 60_000).length > RESTARTS_PER_MINUTE) {
      fail(`PostgreSQL ${reason}, and did so ${restarts.length} times: giving up`)
      return
    }
    log(`PostgreSQL ${reason}: starting it again`)
    try {
      // It has ended; this ends its watchdog.
      await current.stop()
      await abortable(stopOrphans(clusterDir), stopping.signal)
      await delay(50 * restarts.length)
      const next = await startWithDiskSpace()
      if (next === null) return
      current = next
      watch(next)
      // `stop` was called while it was starting.
      if (stopping.signal.aborted) await next.stop()
    } catch (error) {
      // `stop` was called: this is no failure of the server.
      if (stopping.signal.aborted) return
      fail(error instanceof Error ? error.message : String(error))
    }
  }

  /** Starts the server, and waits as long as the disk is full. @returns null after `stop` */
  const startWithDiskSpace = async (): Promise<Postmaster | null> => {
    for (let isLogged = false; !stopping.signal.aborted; isLogged = true) {
      try {
        return await start(stopping.signal)
      } catch (error) {
        if (!(error instanceof DiskFullError)) throw error
        if (!isLogged) log('The disk is full: PostgreSQL starts again when space is free')
        await delay(FULL_DISK_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
    return null
  }

  function watch(postmaster: Postmaster): void {
    void postmaster.ended.then((reason) => {
      if (!stopping.signal.aborted) restarting = startAgain(reason)
    })
  }
  watch(first)

  return {
    failed,
    async stop() {
      stopping.abort()
      await restarting
      await current.stop()
    },
  }
}
