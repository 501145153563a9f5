import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../context/app.ts'
import { dayOf } from '../kernel/day.ts'
import { selectBacklog } from '../spool/spool.queries.ts'
import { DayBusyError, packDay } from './pack-day.ts'
import { selectUnpackedDays } from './pack.queries.ts'

/** A day counts as closed so long after its end. */
const CLOSED_AFTER_MS = 3_600_000
/** Smaller days are not worth the trouble. */
const MIN_BYTES = 4 * 1024 * 1024
/** With more waiting, digestion needs the processor: packing then runs slowly, but never stops, or the disk fills up. */
const BUSY_ENTRIES = 1_000
const BUSY_PAUSE_MS = 2_000
const TELL_EVERY_MS = 30_000

export type PackOptions = {
  readonly now: Date
  /** Stops after the current step; the next call continues there. */
  readonly signal?: AbortSignal
  /** Also days that hold little. */
  readonly minBytes?: number
}

/**
 * Packs every closed day that is not packed yet, oldest first: bodies of about 4 kB each become half a kilobyte in a
 * block of many (docs/decisions/stored-events.md).
 * @returns how many events were packed
 */
export async function packColdEvents(app: App, options: PackOptions): Promise<number> {
  const { now, signal, minBytes = MIN_BYTES } = options
  const closedBefore = dayOf(new Date(now.getTime() - CLOSED_AFTER_MS))
  const { oldestAgeMs } = await selectBacklog(app.db, now)
  // Events of days that still wait on the spool would come too late to be packed.
  const waitingSince = dayOf(new Date(now.getTime() - oldestAgeMs))
  const before = waitingSince < closedBefore ? waitingSince : closedBefore
  let total = 0
  for (const { day, sizeBytes, isStarted } of await selectUnpackedDays(app.db, before)) {
    if (signal?.aborted === true) return total
    if (!isStarted && sizeBytes < minBytes) continue
    app.log.info({ day, size_bytes: sizeBytes }, 'packing the events of a day')
    let toldAtMs = app.clock.monotonicMs()
    try {
      const packed = await packDay(app, day, async () => {
        if (signal?.aborted === true) throw new Stopped()
        if (app.clock.monotonicMs() - toldAtMs > TELL_EVERY_MS) {
          toldAtMs = app.clock.monotonicMs()
          app.log.info({ day }, 'still packing')
        }
        const { entries } = await selectBacklog(app.db, now)
        if (entries > BUSY_ENTRIES) await delay(BUSY_PAUSE_MS)
      })
      total += packed
      app.log.info({ day, events: packed }, 'the events of a day are packed')
    } catch (error) {
      if (error instanceof Stopped) return total
      if (!(error instanceof DayBusyError)) throw error
      app.log.info({ day }, 'packing continues later, the day is in use')
    }
  }
  return total
}

class Stopped extends Error {}
