/** Geometry of lines of fractions near the whole, on a field 1000 wide and 100 high. Pure. */

export type Band = { from: number; to: number }

const STEPS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25] as const
const MOST_TICKS = 4
const round = (value: number): number => Math.round(value * 100) / 100
const clean = (value: number): number => Number(value.toFixed(6))

/** From a little below the lowest value to the whole at most, with at most four ticks. */
export function lineAxis(values: readonly (number | null)[]): { low: number; high: number; ticks: number[] } {
  const known = values.filter((value) => value !== null)
  const [lowest, highest] = known.length === 0 ? [0.99, 1] : [Math.min(...known), Math.max(...known)]
  const spread = Math.max(highest - lowest, 0.002)
  const high = Math.min(1, highest + spread * 0.25)
  const low = Math.max(0, Math.min(lowest - spread * 0.25, high - 0.004))
  const step = STEPS.find((one) => (high - low) / one <= MOST_TICKS) ?? 0.25
  const ticks: number[] = []
  for (let tick = Math.ceil(clean(low / step)) * step; tick <= high + 1e-9; tick += step) ticks.push(clean(tick))
  return { low, high, ticks }
}

/** Lines between known values; a value between two gaps is a stroke of its own. */
export function linePath(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let path = ''
  let drawing = false
  for (const [index, value] of values.entries()) {
    if (value === null) {
      drawing = false
      continue
    }
    path += `${drawing ? 'L' : 'M'}${round(x(index) * 1000)} ${round(100 - y(value))}`
    if (!drawing && (values[index + 1] ?? null) === null) path += 'h0.01'
    drawing = true
  }
  return path
}
