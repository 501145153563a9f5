import type { App } from '../context/app.ts'
import type { InHand } from './in-hand.ts'

/** Deliveries that come back within this time are given back by one statement. */
const COLLECT_MS = 50
/** A delivery that its channel could not send waits this long, and twice as long for each further one in a row. */
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 4_000
const WARN_INTERVAL_MS = 60_000

export type NotSent = {
  /** A channel could not send it: gives it back soon. */
  add(entry: InHand): void
  /** An attempt was made on this lane: its next delivery that cannot be sent waits the shortest time. */
  made(laneId: string): void
  /** Since the start, by channel. */
  readonly counts: ReadonlyMap<string, number>
}

/** @param release gives leases back */
export function createNotSent(
  app: App,
  release: (entries: readonly InHand[], delayMs: number) => Promise<void>,
): NotSent {
  const counts = new Map<string, number>()
  /** By lane; forgotten when none came back for a while. */
  const delays = new Map<string, { readonly delayMs: number; readonly atMs: number }>()
  let waiting: InHand[] = []
  let warnedMs = -Infinity
  let unwarned = 0

  const warn = (channel: string, count: number, nowMs: number): void => {
    unwarned += count
    if (nowMs - warnedMs < WARN_INTERVAL_MS) return
    app.log.warn({ channel, deliveries: unwarned }, 'deliveries could not be sent yet and wait')
    warnedMs = nowMs
    unwarned = 0
  }

  const flush = async (): Promise<void> => {
    const nowMs = performance.now()
    const entries = waiting
    waiting = []
    for (const [laneId, { atMs }] of delays) if (nowMs - atMs > WARN_INTERVAL_MS) delays.delete(laneId)
    for (const laneId of new Set(entries.map(({ delivery }) => delivery.laneId))) {
      const before = delays.get(laneId)?.delayMs ?? FIRST_DELAY_MS / 2
      delays.set(laneId, { delayMs: Math.min(MAX_DELAY_MS, before * 2), atMs: nowMs })
    }
    for (const [channel, { length }] of Map.groupBy(entries, (entry) => entry.channel.name)) {
      counts.set(channel, (counts.get(channel) ?? 0) + length)
      warn(channel, length, nowMs)
    }
    const byDelay = Map.groupBy(entries, ({ delivery }) => delays.get(delivery.laneId)?.delayMs ?? FIRST_DELAY_MS)
    for (const [delayMs, ofDelay] of byDelay) await release(ofDelay, delayMs)
  }

  return {
    add(entry) {
      if (waiting.push(entry) === 1) setTimeout(() => void flush(), COLLECT_MS)
    },
    made: (laneId) => void delays.delete(laneId),
    counts,
  }
}
