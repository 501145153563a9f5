/**
 * The round a recursion without end goes in, for grouping version 2. Frozen with `v2.ts`: never changed once issues
 * depend on it.
 */

/** Functions a round may lead through. */
const LONGEST = 20

/**
 * The steps of the round that is repeated over the longest stretch, beginning with the first of them in order of
 * characters: a stack that ran out is cut anywhere at its outer end, and ends anywhere at the inner one.
 * @returns indices into the list; null where no round was gone twice
 */
export function roundOf(steps: readonly string[]): number[] | null {
  let best = { from: 0, period: 0, length: 0 }
  for (let period = 1; period <= Math.min(LONGEST, steps.length / 2); period += 1) {
    let run = 0
    for (let at = period; at < steps.length; at += 1) {
      run = steps[at] === steps[at - period] ? run + 1 : 0
      const length = run + period
      if (run >= period && length > best.length) best = { from: at - length + 1, period, length }
    }
  }
  if (best.period === 0) return null
  const round = Array.from({ length: best.period }, (_, step) => best.from + step)
  const turned = round.map((_, by) => [...round.slice(by), ...round.slice(0, by)])
  const textOf = (indices: readonly number[]): string => JSON.stringify(indices.map((index) => steps[index]))
  return turned.reduce((least, one) => (textOf(one) < textOf(least) ? one : least))
}
