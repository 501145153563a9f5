import { MINUTE_MS } from '../../platform/kernel/day.ts'

const MAX_ORGANISATIONS = 10_000

/**
 * Which traces of an organisation are considered: all while fewer than `maxPerMinute` items arrive, else a half, a quarter
 * and so on, chosen by trace id. Every project and process with the same share chooses the same traces, and a smaller
 * share is a part of each larger one: the parts of a trace are considered together or not at all.
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
      this.#fraction = elapsed < 2 * MINUTE_MS ? halvedTo(this.#maxPerMinute / Math.max(1, this.#offered)) : 1
      this.#startedMs += Math.floor(elapsed / MINUTE_MS) * MINUTE_MS
      this.#offered = 0
      this.#taken = 0
    }
    this.#offered++
    // More than the minute before: the share is halved instead of closed, so that it stays one of trace ids.
    if (this.#taken >= this.#maxPerMinute) {
      this.#fraction /= 2
      this.#taken = Math.floor(this.#maxPerMinute / 2)
    }
    if (placeOf(traceId) >= this.#fraction) return false
    this.#taken++
    return true
  }
}

/** The largest of 1, 1/2, 1/4 and so on that is at most `share`. */
const halvedTo = (share: number): number => (share >= 1 ? 1 : 2 ** Math.floor(Math.log2(share)))

/** A trace's place among all, from 0 to below 1: ids are random. */
const placeOf = (traceId: string): number => Number.parseInt(traceId.slice(0, 8), 16) / 2 ** 32

/** Parts of traces, and error events with a trace, that are considered per organisation and minute. */
const MAX_PARTS_PER_MINUTE = 600

export type TraceShares = { readonly parts: TraceShare; readonly errors: TraceShare }

/** The shares of a digest thread, by organisation. @param now a monotonic clock, in ms */
export function createTraceShares(now: () => number): { of(orgId: string): TraceShares } {
  const known = new Map<string, TraceShares>()
  return {
    of(orgId) {
      const found = known.get(orgId)
      if (found !== undefined) return found
      if (known.size >= MAX_ORGANISATIONS) known.clear()
      const shares = {
        parts: new TraceShare(now, MAX_PARTS_PER_MINUTE),
        errors: new TraceShare(now, MAX_PARTS_PER_MINUTE),
      }
      known.set(orgId, shares)
      return shares
    },
  }
}
