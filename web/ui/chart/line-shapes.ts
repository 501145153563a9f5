import { area, line } from 'd3-shape'

type Values = readonly (number | null)[]

/** Lines between known values on a plot of 1000 × 100. */
export function linePath(values: Values, x: (index: number) => number, y: (value: number) => number): string {
  const draw = line<number | null>()
    .defined((value) => value !== null)
    .x((_, index) => x(index) * 1000)
    .y((value) => y(value ?? 0))
    .digits(2)
  return draw([...values]) ?? ''
}

/** The area between known values and the lower edge of the plot. */
export function areaPath(values: Values, x: (index: number) => number, y: (value: number) => number): string {
  const draw = area<number | null>()
    .defined((value) => value !== null)
    .x((_, index) => x(index) * 1000)
    .y0(100)
    .y1((value) => y(value ?? 0))
    .digits(2)
  return draw([...values]) ?? ''
}

/** The values between two gaps: no line leads to them, so each is drawn as a dot. */
export const lonelyValues = (values: Values): (number | null)[] =>
  values.map((value, index) => ((values[index - 1] ?? values[index + 1] ?? null) === null ? value : null))

/** The values up to the last, and the step to it, which is still being counted. Each keeps its positions. */
export function splitOpenEnd(values: Values): { closed: (number | null)[]; open: (number | null)[] } {
  const last = values.length - 1
  return {
    closed: values.map((value, index) => (index === last ? null : value)),
    open: values.map((value, index) => (index < last - 1 ? null : value)),
  }
}
