import type { HistoryPoint } from './evaluator.ts'
import { MINUTE_MS, HOUR_MS } from '../../platform/kernel/day.ts'

/** Which alerts a rule would have fired, from what it would have seen. Pure. */

/** A moment at which it would have fired. */
export type Moment = {
  readonly at: Date
  readonly subject: string
  readonly issueId: string | null
  /** Null for facts. */
  readonly value: number | null
}

export type Seen = {
  /** Oldest first. */
  readonly points: readonly HistoryPoint[]
  /** Facts about issues, oldest first. */
  readonly facts: readonly { readonly at: Date; readonly issueId: string }[]
}

export type ReplayLimits = {
  readonly cooldownMs: number
  /** Whether the condition ended where a subject has no point: an issue without events. */
  readonly endsWithoutPoint: boolean
}

/** As in the evaluation of every minute: a condition has ended when it did not hold for this long. */
const CALM_MS = 5 * MINUTE_MS

type Subject = { firedMs: number; heldMs: number; open: 'measured' | 'fact' | null }

/**
 * Repeats the decisions of the past: an alert per subject while the condition holds, and none within the cool-down.
 * @returns oldest first
 */
export function replayRule({ points, facts }: Seen, { cooldownMs, endsWithoutPoint }: ReplayLimits): Moment[] {
  const subjects = new Map<string, Subject>()
  const moments: Moment[] = []
  const stateOf = (subject: string): Subject => {
    const state = subjects.get(subject) ?? { firedMs: Number.NEGATIVE_INFINITY, heldMs: 0, open: null }
    subjects.set(subject, state)
    return state
  }
  const fire = (state: Subject, open: 'measured' | 'fact', moment: Moment): void => {
    if (moment.at.getTime() - state.firedMs < cooldownMs) return
    state.firedMs = moment.at.getTime()
    state.open = open
    moments.push(moment)
  }
  const step = ({ at, subject, issueId, value, holds }: HistoryPoint): void => {
    const state = stateOf(subject)
    const sinceMs = at.getTime() - state.heldMs
    const hasEnded = holds ? endsWithoutPoint && sinceMs > HOUR_MS : value !== null && sinceMs >= CALM_MS
    if (state.open === 'measured' && hasEnded) state.open = null
    if (!holds) return
    if (state.open === null) fire(state, 'measured', { at, subject, issueId: issueId ?? null, value })
    state.heldMs = at.getTime()
  }
  const all = [
    ...points.map((point) => ({ at: point.at, run: () => step(point) })),
    ...facts.map(({ at, issueId }) => ({
      at,
      run: () => fire(stateOf(issueId), 'fact', { at, subject: issueId, issueId, value: null }),
    })),
  ]
  for (const { run } of all.toSorted((a, b) => a.at.getTime() - b.at.getTime())) run()
  return moments
}
