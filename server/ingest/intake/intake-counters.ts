import type { DropReason } from '../outcomes/dropped-items.ts'

/** Counts since the start, for /-/metrics. */
export type IntakeCounters = {
  requests: number
  /** Requests whose data is on disk. */
  accepted: number
  /** Requests whose client disconnected before the body was complete. */
  aborted: number
  /** Bytes of the bodies of accepted requests, as received. */
  acceptedBytes: number
  /** Answers by status. */
  readonly answers: Map<number, number>
  /** Items dropped by reason. */
  readonly dropped: Record<DropReason, number>
  /** Events accepted over their limit because their kind was new. */
  letThrough: number
  /** Accepted requests by duration, from the headers to the commit, in the buckets of {@link LATENCY_BOUNDS_MS}. */
  readonly latency: number[]
  latencySumMs: number
}

/** Upper bounds of the latency buckets; a last bucket counts longer requests. */
export const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 5000] as const

export const createCounters = (): IntakeCounters => ({
  requests: 0,
  accepted: 0,
  aborted: 0,
  acceptedBytes: 0,
  answers: new Map(),
  dropped: { too_large: 0, rate_limited: 0, storm: 0, quota: 0 },
  letThrough: 0,
  latency: LATENCY_BOUNDS_MS.map(() => 0).concat(0),
  latencySumMs: 0,
})

export function countAnswer(counters: IntakeCounters, status: number): void {
  counters.answers.set(status, (counters.answers.get(status) ?? 0) + 1)
}

export function countLatency(counters: IntakeCounters, ms: number): void {
  let bucket = 0
  while (bucket < LATENCY_BOUNDS_MS.length && ms > (LATENCY_BOUNDS_MS[bucket] ?? 0)) bucket++
  counters.latency[bucket] = (counters.latency[bucket] ?? 0) + 1
  counters.latencySumMs += ms
}
