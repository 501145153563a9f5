import type { AttemptResult, Channel, ClaimedDelivery } from './channel.ts'

/** A delivery in the hands of this process, until its result is recorded. */
export type InHand = {
  readonly delivery: ClaimedDelivery
  readonly channel: Channel
  /** Token of its lease, which another claim of this process may have renewed. */
  token: string
  /** When the lease was asked for, on `performance.now()`. */
  claimedMs: number
  readonly abort: AbortController
  /** How often the result could not be recorded, and when that is tried again, on `performance.now()`. */
  failures: number
  retryMs: number
  /** Null while the attempt runs; `endedMs` is on `performance.now()`. */
  ended: { readonly result: AttemptResult; readonly endedMs: number } | null
}
