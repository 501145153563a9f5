import { MIN_VALUES } from '#shared/rate-words.ts'
import type { RangeName } from '#shared/issue-values.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { timeRange } from '../../platform/kernel/time-range.ts'

/** The intervals of a chart over any range. Pure. */

export type Steps = { readonly from: Date; readonly to: Date; readonly stepSeconds: number }

const STEP_SECONDS = [60, 300, 900, 1_800, 3_600, 10_800, 21_600, 86_400, 172_800]
const MAX_STEPS = 120

/**
 * The steps of a named range, or of the given one: whole steps around it, at most 120. No entry is older than the
 * retention or newer than now, so that a range of centuries has no more steps than the time between.
 */
export function chooseSteps(
  range: RangeName | undefined,
  given: { readonly from: Date | null; readonly to: Date | null },
  { now, oldestDay }: { readonly now: Date; readonly oldestDay: string },
): Steps {
  if (range !== undefined || (given.from === null && given.to === null)) {
    const { from, to, stepSeconds } = timeRange(now, range ?? '24h')
    return { from: new Date(from), to: new Date(to), stepSeconds }
  }
  const oldestMs = Date.parse(`${oldestDay}T00:00:00Z`)
  const latestMs = now.getTime() + MINUTE_MS
  const inReach = (ms: number): number => Math.min(latestMs, Math.max(oldestMs, ms))
  const fromMs = inReach(given.from?.getTime() ?? oldestMs)
  const toMs = inReach(given.to?.getTime() ?? latestMs)
  const stepSeconds = STEP_SECONDS.find((step) => (toMs - fromMs) / 1000 <= step * (MAX_STEPS - 2)) ?? longestStep()
  const stepMs = stepSeconds * 1000
  const from = Math.floor(fromMs / stepMs) * stepMs
  return { from: new Date(from), to: new Date(Math.max(from + stepMs, Math.ceil(toMs / stepMs) * stepMs)), stepSeconds }
}

/** Longer steps where the values are few, so that a step has {@link MIN_VALUES} of them on average. */
export function lengthenSteps(steps: Steps, values: number): Steps {
  const lengthSeconds = (steps.to.getTime() - steps.from.getTime()) / 1000
  const isEnough = (step: number): boolean => (values * step) / lengthSeconds >= MIN_VALUES
  if (isEnough(steps.stepSeconds)) return steps
  const stepSeconds = STEP_SECONDS.find((step) => step > steps.stepSeconds && isEnough(step))
  // As many values in all would be one point, which shows nothing.
  if (stepSeconds === undefined || stepSeconds * 2 > lengthSeconds) return steps
  const stepMs = stepSeconds * 1000
  const from = Math.floor(steps.from.getTime() / stepMs) * stepMs
  return { from: new Date(from), to: new Date(Math.ceil(steps.to.getTime() / stepMs) * stepMs), stepSeconds }
}

const longestStep = (): number => STEP_SECONDS.at(-1) ?? 0

/** The start of each step. */
export function listStarts({ from, to, stepSeconds }: Steps): Date[] {
  const starts: Date[] = []
  for (let at = from.getTime(); at < to.getTime(); at += stepSeconds * 1000) starts.push(new Date(at))
  return starts
}
