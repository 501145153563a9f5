import { MINUTE_MS } from '../../platform/kernel/day.ts'

const MAX_PROJECTS = 10_000

/**
 * Which traces of a project are considered: all while fewer than `maxPerMinute` arrive, else an even share of them, chosen
 * by trace id, so that every part of a trace is chosen or none.
 */
export class TraceShare {
  readonly #maxPerMinute: number
  readonly #now: () => number
  #startedMs = 0
  #offered = 0
  #taken = 0
  #fraction = 1

  /** @param now a monotonic clock, in ms */
  constructor(now: () => number, maxPerMinute: number) {
    this.#now = now
    this.#maxPerMinute = maxPerMinute
    this.#startedMs = now()
  }

  /** @param traceId 32 hex digits */
  takes(traceId: string): boolean {
    const elapsed = this.#now() - this.#startedMs
    if (elapsed >= MINUTE_MS) {
      // After a silent minute nothing is known about the next one.
      this.#fraction = elapsed < 2 * MINUTE_MS ? Math.min(1, this.#maxPerMinute / Math.max(1, this.#offered)) : 1
      this.#startedMs += Math.floor(elapsed / MINUTE_MS) * MINUTE_MS
      this.#offered = 0
      this.#taken = 0
    }
    this.#offered++
    if (this.#taken >= this.#maxPerMinute || placeOf(traceId) >= this.#fraction) return false
    this.#taken++
    return true
  }
}

/** A trace's place among all, from 0 to below 1: ids are random. */
const placeOf = (traceId: string): number => Number.parseInt(traceId.slice(0, 8), 16) / 2 ** 32

/** Parts of traces, and error events with a trace, that are considered per project and minute. */
const MAX_PARTS_PER_MINUTE = 300

export type TraceShares = { readonly parts: TraceShare; readonly errors: TraceShare }

/** The shares of a digest thread, by project. @param now a monotonic clock, in ms */
export function createTraceShares(now: () => number): { of(projectId: string): TraceShares } {
  const known = new Map<string, TraceShares>()
  return {
    of(projectId) {
      const found = known.get(projectId)
      if (found !== undefined) return found
      if (known.size >= MAX_PROJECTS) known.clear()
      const shares = {
        parts: new TraceShare(now, MAX_PARTS_PER_MINUTE),
        errors: new TraceShare(now, MAX_PARTS_PER_MINUTE),
      }
      known.set(projectId, shares)
      return shares
    },
  }
}
