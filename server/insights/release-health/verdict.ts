import type { ReleaseState } from '../../projects/releases/releases.api.ts'
import type { Comparison, Verdict, VerdictNumbers } from './release-health.api.ts'

/** With fewer sessions the verdict is too_early. */
export const MIN_SESSIONS = 1_000
/** Share of crash-free sessions below which the verdict is watch, or hold. */
const WATCH_BELOW = 0.995
const HOLD_BELOW = 0.99
/** The same for a significant fall against the previous release. */
const WATCH_FALL = 0.001
const HOLD_FALL = 0.003
/** Adoption below which a release that is not the newest counts as replaced. */
const REPLACED_BELOW = 0.05
/** A fall of more standard errors is significant. */
const MIN_STANDARD_ERRORS = 2

export type Sessions = { readonly sessions: number; readonly crashed: number }

export type VerdictFacts = {
  readonly state: ReleaseState
  /** The data that was ever received from it, in any range and environment. */
  readonly received: 'nothing' | 'no_sessions' | 'sessions'
  /** Null without any. */
  readonly sessions: Sessions | null
  readonly previous: (Sessions & { readonly version: string }) | null
  /** The same at equal age since release; it decides where both have enough sessions by then. */
  readonly comparison: Comparison | null
  readonly regressions: number
  /** Share of the sessions of the last 24 h; null when there were none. */
  readonly adoption: number | null
  /** A newer release has sessions in the last 24 h. */
  readonly isSucceeded: boolean
}

export const computeCrashFreeRate = ({ sessions, crashed }: Sessions): number => 1 - crashed / sessions

const percent = (fraction: number): string => `${(fraction * 100).toFixed(2)} %`

const WITHOUT_SESSIONS: Readonly<Record<VerdictFacts['received'], string>> = {
  nothing: 'No event or session has arrived yet.',
  no_sessions: 'The SDK of this release sends no sessions, so its health is unknown.',
  sessions: 'There are no sessions in this time range and environment, so its health is unknown.',
}

type Judged = { verdict: Verdict; verdict_reason: string; verdict_numbers: VerdictNumbers }

/** Whether a rollout should continue, the reason, and the numbers behind it. */
export function judgeRelease(facts: VerdictFacts): Judged {
  const { sessions, regressions } = facts
  const numbers = numbersOf(facts)
  const is = (verdict: Verdict, verdict_reason: string, by: VerdictNumbers['decided_by'] = null): Judged => ({
    verdict,
    verdict_reason,
    verdict_numbers: { ...numbers, decided_by: by },
  })
  if (facts.state === 'archived') return is('archived', 'Archived.')
  if (sessions === null || sessions.sessions <= 0)
    return facts.state === 'planned'
      ? is('planned', 'Planned. No event or session has arrived yet.')
      : is('no_sessions', WITHOUT_SESSIONS[facts.received])
  if (facts.isSucceeded && facts.adoption !== null && facts.adoption < REPLACED_BELOW)
    return is('replaced', 'A newer release has replaced it.')
  if (sessions.sessions < MIN_SESSIONS)
    return is(
      'too_early',
      `Too early to tell: ${sessions.sessions.toLocaleString('en-GB')} of 1,000 sessions in this time range.`,
      'sessions',
    )
  const crashFree = computeCrashFreeRate(sessions)
  const fall = numbers.is_significant ? (numbers.fall ?? 0) : 0
  if (crashFree < HOLD_BELOW)
    return is('hold', `${percent(crashFree)} of sessions are crash-free, below 99 %.`, 'crash_free_sessions')
  if (fall >= HOLD_FALL)
    return is('hold', `Crash-free sessions fell by ${points(fall)} compared with ${numbers.previous}.`, 'fall')
  if (crashFree < WATCH_BELOW)
    return is('watch', `${percent(crashFree)} of sessions are crash-free, below 99.5 %.`, 'crash_free_sessions')
  if (fall >= WATCH_FALL)
    return is('watch', `Crash-free sessions fell by ${points(fall)} compared with ${numbers.previous}.`, 'fall')
  if (regressions > 0)
    return is(
      'watch',
      regressions === 1 ? 'One issue regressed in this release.' : `${regressions} issues regressed in this release.`,
      'regressions',
    )
  return is('healthy', `${percent(crashFree)} of sessions are crash-free.`, 'crash_free_sessions')
}

const points = (fraction: number): string => `${(fraction * 100).toFixed(2)} points`

/** At equal age where both releases have enough sessions by then, else over the range. */
function numbersOf({ sessions, previous, comparison, regressions }: VerdictFacts): Omit<VerdictNumbers, 'decided_by'> {
  const isAtAge =
    comparison !== null && comparison.release.sessions >= MIN_SESSIONS && comparison.previous.sessions >= MIN_SESSIONS
  const [now, before] = isAtAge ? [comparison.release, comparison.previous] : [sessions, previous]
  const compared =
    now === null || before === null || now.sessions <= 0 || before.sessions <= 0 ? null : fallOf(before, now)
  return {
    sessions: Math.max(0, sessions?.sessions ?? 0),
    crash_free_sessions: sessions === null || sessions.sessions <= 0 ? null : computeCrashFreeRate(sessions),
    fall: compared?.fall ?? null,
    standard_error: compared?.error ?? null,
    is_significant: compared !== null && compared.fall > MIN_STANDARD_ERRORS * compared.error,
    previous: before?.version ?? null,
    age_hours: isAtAge ? comparison.age_hours : null,
    regressions,
  }
}

/** By how much the share of crash-free sessions fell, and the standard error of that. */
function fallOf(before: Sessions, now: Sessions): { readonly fall: number; readonly error: number } {
  const [a, b] = [computeCrashFreeRate(before), computeCrashFreeRate(now)]
  return { fall: a - b, error: Math.sqrt((a * (1 - a)) / before.sessions + (b * (1 - b)) / now.sessions) }
}
