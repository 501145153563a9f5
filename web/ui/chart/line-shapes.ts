import { line } from 'd3-shape'

/** Lines between known values on a plot of 1000 × 100; a value between two gaps is a dot. */
export function linePath(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  const draw = line<number | null>()
    .defined((value) => value !== null)
    .x((_, index) => x(index) * 1000)
    .y((value) => y(value ?? 0))
    .digits(2)
  return draw([...values]) ?? ''
}
