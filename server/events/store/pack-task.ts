import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import { DayBusyError, type EventCap, packDay } from './pack-day.ts'
import { selectUnpackedDays } from './pack.queries.ts'

/** Jobs share few workers, so the next run continues with a large day. */
const MAX_MS = 8 * 60_000

/** Every ten minutes, to retry a day that was in use soon. A run with nothing to do costs two queries. */
export const packEventsTask = (readBacklog: ReadBacklog, cap: Omit<EventCap, 'max'>) =>
  defineTask({
    name: 'pack-events',
    payload: NoPayload,
    cron: '*/10 * * * *',
    async run(app, _payload, signal) {
      await packColdEvents(app, {
        now: app.clock.now(),
        readBacklog,
        cap: { ...cap, max: app.config.maxEventsPerIssueDay },
        signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]),
      })
    },
  })

/** A day counts as closed this long after its end. */
const CLOSED_AFTER_MS = 3_600_000
/** Smaller days are not packed. */
const MIN_BYTES = 4 * 1024 * 1024
/**
 * With a larger backlog digestion needs the processor. Packing then slows down, but does not stop, so that the disk
 * does not fill up.
 */
const BUSY_ENTRIES = 1_000
const BUSY_PAUSE_MS = 2_000
const LOG_EVERY_MS = 30_000

/** Reads how many entries wait for digestion, and for how long the oldest has waited. */
type ReadBacklog = (app: App, now: Date) => Promise<{ readonly entries: number; readonly oldestAgeMs: number }>

type PackOptions = {
  readonly now: Date
  readonly readBacklog: ReadBacklog
  readonly cap?: EventCap
  /** Stops after the current step; the next call continues from there. */
  readonly signal?: AbortSignal
  /** Minimum size of a day. */
  readonly minBytes?: number
}

/**
 * Packs every closed day that is not packed, oldest first. A body of about 4 kB becomes half a kilobyte in a block of
 * many (docs/decisions/stored-events.md).
 * @returns the number of packed events
 */
export async function packColdEvents(app: App, options: PackOptions): Promise<number> {
  const { now, readBacklog, cap, signal, minBytes = MIN_BYTES } = options
  const closedBefore = utcDay(new Date(now.getTime() - CLOSED_AFTER_MS))
  const { oldestAgeMs } = await readBacklog(app, now)
  // A day with events in the spool is not packed, because they would arrive too late for it.
  const waitingSince = utcDay(new Date(now.getTime() - oldestAgeMs))
  const before = waitingSince < closedBefore ? waitingSince : closedBefore
  let total = 0
  for (const { day, sizeBytes, isStarted } of await selectUnpackedDays(app.db, before)) {
    if (signal?.aborted === true) return total
    if (!isStarted && sizeBytes < minBytes) continue
    app.log.info({ day, size_bytes: sizeBytes }, 'packing the events of a day')
    let loggedAtMs = app.clock.monotonicMs()
    try {
      const pause = async (): Promise<void> => {
        if (signal?.aborted === true) throw new Stopped()
        if (app.clock.monotonicMs() - loggedAtMs > LOG_EVERY_MS) {
          loggedAtMs = app.clock.monotonicMs()
          app.log.info({ day }, 'still packing')
        }
        const { entries } = await readBacklog(app, now)
        if (entries > BUSY_ENTRIES) await delay(BUSY_PAUSE_MS)
      }
      const packed = await packDay(app, day, pause, cap === undefined ? {} : { cap })
      total += packed
      app.log.info({ day, events: packed }, 'the events of a day are packed')
    } catch (error) {
      if (error instanceof Stopped) return total
      if (isDatabaseAway(error)) throw error
      if (error instanceof DayBusyError) app.log.info({ day }, 'the day is in use; packing continues with the next run')
      // The days after it are packed all the same, or the disk would fill up.
      else app.log.error({ day, err: error }, 'the events of a day cannot be packed; the next run tries again')
    }
  }
  return total
}

class Stopped extends Error {}
