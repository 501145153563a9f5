/** The only source of time. Tests put a clock of their own in its place. */
export type Clock = {
  /** Wall clock. */
  now(): Date
  /** Milliseconds that never run backwards; for durations and deadlines inside one process. */
  monotonicMs(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}
