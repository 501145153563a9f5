/** The only source of time; tests replace it. */
export type Clock = {
  /** Wall clock. */
  now(): Date
  /** Milliseconds that never decrease; for durations and deadlines inside one process. */
  monotonicMs(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}
