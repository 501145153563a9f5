/** The steps of `npm run load`: which rate comes next, and what the answers say about the machine. Pure. */

export type Limits = {
  /** One answer in a hundred may take longer. */
  readonly p99Ms: number
  /** Events may wait so long for digestion. */
  readonly lagSeconds: number
}

/** One rate for some seconds. */
export type Step = {
  readonly ratePerSecond: number
  readonly sentPerSecond: number
  /** Answers other than 200, by status; 0 for a broken connection. */
  readonly refused: ReadonlyMap<number, number>
  readonly p50Ms: number
  readonly p99Ms: number
  /** Events that waited for digestion at the end, and for how long at the rate of digestion; null where it is not known. */
  readonly waiting: { readonly events: number; readonly seconds: number } | null
}

/** The part of the machine that is full. */
type Shortage = 'refused' | 'generator' | 'answers' | 'digestion'

const GROWTH = 1.5
/** Between the highest rate within the limits and the lowest over them. */
const PRECISION = 1.12
/** Less than this share of the asked rate was sent: the generator is the limit. */
const SENT_SHARE = 0.95

/** @returns why a step is over the limits; null when it is within them */
export function shortageOf(step: Step, limits: Limits): Shortage | null {
  if (step.refused.size > 0) return 'refused'
  if (step.p99Ms > limits.p99Ms) return 'answers'
  if (step.waiting !== null && step.waiting.seconds > limits.lagSeconds) return 'digestion'
  return step.sentPerSecond < step.ratePerSecond * SENT_SHARE ? 'generator' : null
}

/**
 * Grows until a step is over the limits, then halves the distance.
 * @returns the next rate; null at the end
 */
export function nextRate(
  steps: readonly Step[],
  limits: Limits,
  startPerSecond: number,
  maxPerSecond: number,
): number | null {
  const { good, bad } = bounds(steps, limits)
  if (steps.length === 0) return Math.min(startPerSecond, maxPerSecond)
  if (bad === null) return good >= maxPerSecond ? null : Math.min(Math.round(good * GROWTH), maxPerSecond)
  // Not even the first rate.
  if (good === 0) return bad.ratePerSecond <= 1 ? null : Math.max(1, Math.floor(bad.ratePerSecond / 4))
  return bad.ratePerSecond / good <= PRECISION || bad.ratePerSecond - good <= 1
    ? null
    : Math.round(Math.sqrt(bad.ratePerSecond * good))
}

/** The highest rate within the limits, 0 for none, and the lowest step over them. */
export function bounds(steps: readonly Step[], limits: Limits): { good: number; bad: Step | null } {
  const over = steps.filter((step) => shortageOf(step, limits) !== null)
  const bad = over.toSorted((a, b) => a.ratePerSecond - b.ratePerSecond)[0] ?? null
  const within = steps.filter(
    (step) => shortageOf(step, limits) === null && (bad === null || step.ratePerSecond < bad.ratePerSecond),
  )
  return { good: Math.max(0, ...within.map(({ ratePerSecond }) => ratePerSecond)), bad }
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const rounded = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value))

/** A line for each step. */
export function lineOf(step: Step, limits: Limits): string {
  const waiting =
    step.waiting === null ? '' : `, ${whole(step.waiting.events)} waiting (${rounded(step.waiting.seconds)} s)`
  const refused = [...step.refused].map(
    ([status, count]) => `, ${whole(count)} × ${status === 0 ? 'no answer' : status}`,
  )
  const mark = shortageOf(step, limits) === null ? 'ok  ' : 'over'
  return `${mark} ${whole(step.ratePerSecond).padStart(7)}/s  answered in ${rounded(step.p50Ms)} ms, p99 ${rounded(step.p99Ms)} ms${waiting}${refused.join('')}`
}

/** The sentences at the end. */
export function verdictOf(steps: readonly Step[], limits: Limits, sizeBytes: number): string[] {
  const { good, bad } = bounds(steps, limits)
  const kB = `${rounded(sizeBytes / 1000)} kB`
  const takes =
    good === 0
      ? 'This machine takes none of the rates that were tried.'
      : `This machine takes ${bad === null ? 'at least ' : ''}${whole(good)} events/s of ${kB}, ${rounded((good * 86_400) / 1e6)} million a day.`
  return [takes, bad === null ? 'Nothing was full: try a higher --max-rate.' : reasonOf(bad, limits)]
}

function reasonOf(bad: Step, limits: Limits): string {
  const rate = `At ${whole(bad.ratePerSecond)}/s`
  switch (shortageOf(bad, limits)) {
    case 'refused': {
      const isLimit = bad.refused.has(429)
      return isLimit
        ? `Full first: a limit. ${rate} requests were refused with 429: raise the limit of the project's key, or RATE_LIMIT_SCALE.`
        : `Full first: the intake. ${rate} requests were refused (${[...bad.refused.keys()].join(', ')}).`
    }
    case 'digestion':
      return `Full first: digestion. ${rate} events waited ${rounded(bad.waiting?.seconds ?? 0)} s (limit ${limits.lagSeconds} s): more or faster cores, or processes with the role digest.`
    case 'answers':
      return `Full first: the intake. ${rate} one answer in a hundred took over ${rounded(bad.p99Ms)} ms (limit ${limits.p99Ms} ms): a faster disk, or more cores.`
    default:
      return `Full first: this load generator. ${rate} it sent ${whole(bad.sentPerSecond)}/s: run it on another machine.`
  }
}
