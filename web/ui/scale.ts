/** Steps a person would choose for an axis: 1, 2 or 5 times a power of ten. */
export function niceStep(max: number, ticks: number): number {
  const raw = max / Math.max(1, ticks)
  if (!(raw > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(raw))
  const factor = raw / power
  return (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10) * power
}

/** Whole-number ticks from 0 for a chart of counts, and the top of its axis (never 0). */
export function countAxis(max: number, ticks = 2): { ticks: number[]; top: number } {
  const step = Math.max(1, niceStep(max, ticks))
  const marks: number[] = []
  for (let at = 0; at <= max; at += step) marks.push(at)
  if (marks.length === 1) marks.push(step)
  // A little air above the highest bar, so that it does not touch the marker's label.
  return { ticks: marks, top: Math.max(max * 1.08, marks.at(-1) ?? step) }
}
