import type { App } from '../context/app.ts'
import { isDatabaseAway } from '../storage/pool.ts'
import { pause } from './waker.ts'

const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 2_000

type Outage = {
  /** Runs work of a loop that will do it again; after a failure it logs and waits, longer each time. */
  guard(work: () => Promise<void>): Promise<void>
  /** Whether work failed since it last succeeded. */
  isAway(): boolean
  /** When the newest outage ended, on `performance.now()`. */
  endedMs(): number
}

/** @param what a loop does, for the log: `claiming deliveries` */
export function createOutage(app: App, what: string, stopping: AbortSignal): Outage {
  let retryMs = 0
  let endedMs = -Infinity
  return {
    async guard(work) {
      try {
        await work()
        if (retryMs > 0) endedMs = performance.now()
        retryMs = 0
      } catch (error) {
        const isAway = isDatabaseAway(error)
        if (!isAway) app.log.error({ err: error }, `${what} failed and is retried`)
        else if (retryMs === 0)
          app.log.warn({ err: error instanceof Error ? error.message : error }, `${what} waits for the database`)
        retryMs = Math.min(MAX_RETRY_MS, retryMs * 2 + FIRST_RETRY_MS)
        await pause(retryMs, stopping)
      }
    },
    isAway: () => retryMs > 0,
    endedMs: () => endedMs,
  }
}
