import { setTimeout as delay } from 'node:timers/promises'
import { abortable } from '../kernel/abortable.ts'
import { DiskFullError } from '../storage/database-start-error.ts'
import { stopOrphans } from './orphans.ts'
import type { Postmaster } from './postmaster.ts'

/** Starts within a minute after which we stop bringing a dying server back. */
const RESTARTS_PER_MINUTE = 3
/** A full disk is no reason to give up: people make room, and the service is to be there when they have. */
const FULL_DISK_PAUSE_MS = 1_000

export type Supervisor = {
  stop(): Promise<void>
  /** Settles, with the reason, when the server could not be brought back. */
  readonly failed: Promise<string>
}

/** Brings the server back when it dies without being asked to, with the same address. */
export function supervise(
  first: Postmaster,
  options: {
    /** Gives up, with nothing left running, when the signal aborts. */
    start: (signal: AbortSignal) => Promise<Postmaster>
    clusterDir: string
    log: (line: string) => void
    /** Whether the server lately said that the disk is full: such ends do not count against it. */
    diskWasFull: () => boolean
  },
): Supervisor {
  const { start, clusterDir, log, diskWasFull } = options
  let current = first
  const stopping = new AbortController()
  let restarting: Promise<void> | undefined
  const restarts: number[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  const bringBack = async (reason: string): Promise<void> => {
    const now = performance.now()
    if (!diskWasFull()) restarts.push(now)
    if (restarts.filter((at) => now - at < 60_000).length > RESTARTS_PER_MINUTE) {
      fail(`PostgreSQL ${reason}, and did so ${restarts.length} times: giving up`)
      return
    }
    log(`PostgreSQL ${reason}: starting it again`)
    try {
      // Gone already; this lets its watchdog go.
      await current.stop()
      await abortable(stopOrphans(clusterDir), stopping.signal)
      await delay(50 * restarts.length)
      const next = await startWithRoom()
      if (next === null) return
      current = next
      watch(next)
      // Asked to stop while it was coming up.
      if (stopping.signal.aborted) await next.stop()
    } catch (error) {
      // Asked to stop: not a failure of the server's.
      if (stopping.signal.aborted) return
      fail(error instanceof Error ? error.message : String(error))
    }
  }

  /** Waits for room on the disk, as long as it takes. Null when asked to stop meanwhile. */
  const startWithRoom = async (): Promise<Postmaster | null> => {
    for (let told = false; !stopping.signal.aborted; told = true) {
      try {
        return await start(stopping.signal)
      } catch (error) {
        if (!(error instanceof DiskFullError)) throw error
        if (!told) log('The disk is full: PostgreSQL starts again when there is room')
        await delay(FULL_DISK_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
    return null
  }

  function watch(postmaster: Postmaster): void {
    void postmaster.ended.then((reason) => {
      if (!stopping.signal.aborted) restarting = bringBack(reason)
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
