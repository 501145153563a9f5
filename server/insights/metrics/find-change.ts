import type { Finding } from './finding.api.ts'

/** Numerator and denominator of a rate per interval, oldest first. */
export type RatePoint = { readonly t: number; readonly part: number; readonly whole: number }

/** The best split of a range is searched, so a change must be further from chance than one that was expected. */
const MIN_STANDARD_ERRORS = 4
/** Smaller changes are nothing to act on. */
const MIN_RELATIVE_CHANGE = 0.2
const MIN_PARTS = 10

/**
 * Whether a rate changed within a range: the interval that splits it into the most different halves. Null when nothing is
 * known.
 */
export function findChange(points: readonly RatePoint[]): Finding | null {
  const all = points.reduce((sum, { part, whole }) => ({ part: sum.part + part, whole: sum.whole + whole }), {
    part: 0,
    whole: 0,
  })
  if (all.whole <= 0) return null
  const rate = all.part / all.whole
  const steady: Finding = { kind: 'steady', value: rate }
  if (all.part < MIN_PARTS) return steady
  let best = { distance: 0, t: 0, before: 0, after: 0 }
  let [part, whole] = [0, 0]
  for (const point of points) {
    const rest = { part: all.part - part, whole: all.whole - whole }
    if (whole > 0 && rest.whole > 0) {
      const [before, after] = [part / whole, rest.part / rest.whole]
      const error = Math.sqrt(rate * (1 - rate) * (1 / whole + 1 / rest.whole))
      const distance = error === 0 ? 0 : Math.abs(after - before) / error
      if (distance > best.distance) best = { distance, t: point.t, before, after }
    }
    part += point.part
    whole += point.whole
  }
  const { before, after } = best
  if (best.distance < MIN_STANDARD_ERRORS) return steady
  if (Math.abs(after - before) < MIN_RELATIVE_CHANGE * Math.max(before, after)) return steady
  const since = new Date(best.t).toISOString()
  return { kind: after > before ? 'rose' : 'fell', since, before, after, release: null }
}

/** The largest interval against the median one. Null when no interval stands out. */
export function findPeak(points: readonly { readonly t: number; readonly value: number }[]): Finding | null {
  const sorted = points.map(({ value }) => value).sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] ?? 0
  const peak = points.reduce((top, point) => (point.value > top.value ? point : top), { t: 0, value: 0 })
  if (median <= 0 || peak.value < 2 * median || peak.value < MIN_PARTS) return null
  return { kind: 'peak', at: new Date(peak.t).toISOString(), value: peak.value, times: peak.value / median }
}

export const findDifference = (total: number, previous: number): Finding | null =>
  previous <= 0 ? null : { kind: 'changed', share: total / previous - 1 }
