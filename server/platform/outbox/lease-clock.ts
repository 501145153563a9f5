/** A clock of the database that is further ahead of its observed pace has jumped. */
const SLACK_MS = 2_000

/** A worker's knowledge of the database's clock: a jump must not end the leases of other workers. */
export type LeaseClock = {
  /**
   * A look at the clock of the database.
   * @param askedMs when the database was asked, on `performance.now()`
   */
  observe(databaseMs: number, askedMs: number): void
  /** The leases that ended before this time of the database are abandoned; none before the first look. */
  endedBy(nowMs: number): number
}

/**
 * After a jump forward the clock counts on at its pace for one lease: by then every lease from before has really ended. A
 * jump backward counts immediately; leases last longer by it.
 */
export function createLeaseClock(leaseMs: number): LeaseClock {
  let base: { readonly databaseMs: number; readonly askedMs: number } | null = null
  /** The jump that is observed: since when, and how far. */
  let jump: { readonly sinceMs: number; readonly byMs: number } | null = null
  const expectedMs = (nowMs: number): number => (base === null ? -Infinity : base.databaseMs + nowMs - base.askedMs)
  return {
    observe(databaseMs, askedMs) {
      const aheadMs = databaseMs - expectedMs(askedMs)
      if (base !== null && aheadMs > 0) {
        if (aheadMs <= SLACK_MS) jump = null
        else if (jump === null || aheadMs > jump.byMs + SLACK_MS) jump = { sinceMs: askedMs, byMs: aheadMs }
        if (jump === null || askedMs - jump.sinceMs < leaseMs) return
      }
      base = { databaseMs, askedMs }
      jump = null
    },
    endedBy: (nowMs) => expectedMs(nowMs) + SLACK_MS,
  }
}
