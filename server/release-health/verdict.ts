import type { ReleaseState } from '../releases/releases.api.ts'
import type { Verdict } from './release-health.api.ts'

/** Fewer sessions say nothing yet. */
export const MIN_SESSIONS = 1_000
/** Crash-free sessions under these are not good, or bad. */
export const WATCH_BELOW = 0.995
export const HOLD_BELOW = 0.99
/** A fall against the release before by so much, where it is more than chance. */
const WATCH_FALL = 0.001
const HOLD_FALL = 0.003
/** A release that is not the newest with less of the sessions has been replaced. */
const REPLACED_BELOW = 0.05
/** How many standard errors are more than chance. */
const SURE = 2

export type Sessions = { readonly sessions: number; readonly crashed: number }

export type VerdictFacts = {
  readonly state: ReleaseState
  /** What ever came from it, whatever the range and environment asked for. */
  readonly cameFromIt: 'nothing' | 'no_sessions' | 'sessions'
  /** Null without any. */
  readonly sessions: Sessions | null
  readonly previous: (Sessions & { readonly version: string }) | null
  readonly regressions: number
  /** Share of the sessions of the last 24 h; null when there were none at all. */
  readonly adoption: number | null
  /** A newer release has sessions in the last 24 h. */
  readonly isSucceeded: boolean
}

export const crashFreeOf = ({ sessions, crashed }: Sessions): number => 1 - crashed / sessions

const percent = (fraction: number): string => `${(fraction * 100).toFixed(2)} %`

const WITHOUT_SESSIONS: Readonly<Record<VerdictFacts['cameFromIt'], string>> = {
  nothing: 'Nothing came from it yet.',
  no_sessions: 'No sessions: the SDK of this release sends none, so nothing can be said about its health.',
  sessions: 'No sessions in this time and environment, so nothing can be said about its health.',
}

/** Whether a rollout should go on, and why (brief 4.8). */
export function verdictOf(facts: VerdictFacts): { verdict: Verdict; verdict_reason: string } {
  const { sessions, previous, regressions } = facts
  const is = (verdict: Verdict, verdict_reason: string) => ({ verdict, verdict_reason })
  if (facts.state === 'archived') return is('archived', 'Archived.')
  if (sessions === null || sessions.sessions <= 0)
    return facts.state === 'planned'
      ? is('planned', 'Planned: nothing came from it yet.')
      : is('no_sessions', WITHOUT_SESSIONS[facts.cameFromIt])
  if (facts.isSucceeded && facts.adoption !== null && facts.adoption < REPLACED_BELOW)
    return is('replaced', 'A newer release has taken its place.')
  if (sessions.sessions < MIN_SESSIONS)
    return is('too_early', `Too early to tell: ${sessions.sessions.toLocaleString('en-GB')} of 1,000 sessions.`)
  const crashFree = crashFreeOf(sessions)
  const fall = previous === null ? 0 : surelyFallen(previous, sessions)
  if (crashFree < HOLD_BELOW) return is('hold', `Crash-free sessions are at ${percent(crashFree)}, under 99 %.`)
  if (previous !== null && fall >= HOLD_FALL)
    return is('hold', `Crash-free sessions fell by ${points(fall)} against ${previous.version}.`)
  if (crashFree < WATCH_BELOW) return is('watch', `Crash-free sessions are at ${percent(crashFree)}, under 99.5 %.`)
  if (previous !== null && fall >= WATCH_FALL)
    return is('watch', `Crash-free sessions fell by ${points(fall)} against ${previous.version}.`)
  if (regressions > 0)
    return is('watch', regressions === 1 ? 'An issue came back in it.' : `${regressions} issues came back in it.`)
  return is('healthy', `Crash-free sessions are at ${percent(crashFree)}.`)
}

const points = (fraction: number): string => `${(fraction * 100).toFixed(2)} points`

/** By how much the share of crash-free sessions fell; 0 where that may be chance. */
function surelyFallen(before: Sessions, now: Sessions): number {
  const [a, b] = [crashFreeOf(before), crashFreeOf(now)]
  const error = Math.sqrt((a * (1 - a)) / before.sessions + (b * (1 - b)) / now.sessions)
  const fall = a - b
  return fall > SURE * error ? fall : 0
}
