import type { AttemptResult } from './channel.ts'
import type { DeliveryState, Replay, Trigger } from './delivery.ts'

/** A delivery at the end of an attempt, as its row is then. */
export type AfterAttempt = {
  /** Attempts of the schedule that ended before this one. */
  readonly attempt: number
  /** The schedule has attempts left; one that was due now counts. */
  readonly isScheduled: boolean
  /** This attempt was a replay. */
  readonly leaseReplay: Replay | null
  /** A replay was asked for during this attempt. */
  readonly replay: Replay | null
  /** Its lane was closed, or its message erased: nothing is sent any more. */
  readonly endReason: string | null
}

export type Decision = {
  readonly trigger: Trigger
  readonly state: DeliveryState
  readonly attempt: number
  /** The change of `next_attempt_at`: it stays, becomes null, or lies this long after the end of the attempt. */
  readonly schedule: 'stays' | 'ends' | { readonly delayMs: number }
  /** A replay is due now; otherwise the schedule decides. */
  readonly replay: Replay | null
  readonly reason: string | null
  /** It was the last attempt of the schedule, and it failed. */
  readonly isExhausted: boolean
}

/**
 * The state machine of a delivery: what follows an attempt. Pure; settling writes what this returns, and the model of the
 * tests checks it.
 * @param delaysMs of the channel: one for each attempt of the schedule
 */
export function decideNext(
  before: AfterAttempt,
  outcome: AttemptResult['outcome'],
  delaysMs: readonly number[],
): Decision {
  const { leaseReplay, endReason } = before
  const trigger = leaseReplay === null ? 'schedule' : 'replay'
  const attempt = trigger === 'schedule' ? before.attempt + 1 : before.attempt
  const ended = { trigger, attempt, reason: null, isExhausted: false } as const
  if (outcome === 'delivered') {
    const replay = endReason === null ? before.replay : null
    return { ...ended, state: stateWith(replay, 'delivered'), schedule: 'ends', replay }
  }
  if (endReason !== null) return { ...ended, state: 'failed', schedule: 'ends', replay: null, reason: endReason }
  const { replay } = before
  const state = stateWith(replay, 'failed')
  // A running schedule continues as if there had been no replay.
  if (trigger === 'replay' && (before.isScheduled || leaseReplay === 'once'))
    return { ...ended, state, schedule: 'stays', replay }
  // The failed replay takes the place of the first attempt of the new schedule: that one has no delay.
  const made = trigger === 'replay' ? 1 : attempt
  const delayMs = delaysMs[made]
  if (delayMs === undefined) return { ...ended, attempt: made, state, schedule: 'ends', replay, isExhausted: true }
  return { ...ended, attempt: made, state, schedule: { delayMs }, replay }
}

const stateWith = (replay: Replay | null, state: DeliveryState): DeliveryState => (replay === null ? state : 'pending')
