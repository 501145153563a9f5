import type { CanaryStep } from './canary.api.ts'

/** An event that has not arrived after this time is late, and then the path is broken. */
const LATE_MS = 60_000
const BROKEN_MS = 120_000
/** Without a new run for so many periods. */
const LATE_PERIODS = 1.5
const BROKEN_PERIODS = 2

/** The id that stands for a missing run. */
export const NO_RUN = '00000000-0000-0000-0000-000000000000'

/** The newest run, as far as it came. */
export type NewestRun = {
  readonly id: string
  readonly isAccepted: boolean
  readonly refusal: string | null
  readonly isDigested: boolean
  readonly isFired: boolean
  readonly isArrived: boolean
}

export type Verdict = {
  readonly state: 'pending' | 'ok' | 'late' | 'broken'
  /** Of `late` and `broken`. */
  readonly failedStep: CanaryStep | null
  /** One sentence: what happened, and what to do. Empty when there is nothing to do. */
  readonly explanation: string
  /** The run that no other followed in time. */
  readonly missedAfter: string | null
}

export type Sighting = {
  readonly before: Verdict
  readonly run: NewestRun | null
  /** For how long this process watched: the newest run without its arrival; and no newer run. */
  readonly unarrivedMs: number
  readonly sameRunMs: number
  readonly periodMs: number
}

/**
 * Says whether alerts arrive. It uses times that one process measured while it could see the database, no clocks: a clock
 * that jumps, an outage of the database and a restart raise no alarm. What was broken stays so until an event arrives.
 */
export function judge({ before, run, unarrivedMs, sameRunMs, periodMs }: Sighting): Verdict {
  if (run !== null && !run.isArrived) {
    const failedStep = stepOf(run)
    const failed = { failedStep, explanation: EXPLANATIONS[failedStep](run.refusal), missedAfter: null }
    if (unarrivedMs >= BROKEN_MS) return { state: 'broken', ...failed }
    if (unarrivedMs >= LATE_MS && before.state !== 'broken') return { state: 'late', ...failed }
    return before
  }
  if (sameRunMs >= BROKEN_PERIODS * periodMs) return missed('broken', run)
  if (sameRunMs >= LATE_PERIODS * periodMs && before.state !== 'broken') return missed('late', run)
  const isMissed = before.missedAfter === (run?.id ?? NO_RUN)
  return run === null || isMissed ? before : { state: 'ok', failedStep: null, explanation: '', missedAfter: null }
}

function stepOf({ isAccepted, isDigested, isFired }: NewestRun): CanaryStep {
  if (!isAccepted) return 'intake'
  if (!isDigested) return 'digestion'
  return isFired ? 'delivery' : 'alert'
}

const EXPLANATIONS: Readonly<Record<CanaryStep, (refusal: string | null) => string>> = {
  intake: (refusal) =>
    `The intake did not accept the test event (${refusal ?? 'no answer'}): check /readyz and the logs of the processes with the role ingest.`,
  digestion: () =>
    'The test event was accepted but not digested: check that a process with the role digest runs, and read its log.',
  alert: () =>
    'The test event created an issue, but the rule did not fire: read the log of the processes with the role digest.',
  delivery: () =>
    'The test alert fired but was not delivered: check that a process with the role deliver runs, and read its log.',
}

const missed = (state: 'late' | 'broken', run: NewestRun | null): Verdict => ({
  state,
  failedStep: 'intake',
  explanation:
    'The next test event is overdue: check that a process with the role ingest runs, with the same FAULTLINE_CANARY_MINUTES as the others.',
  missedAfter: run?.id ?? NO_RUN,
})
