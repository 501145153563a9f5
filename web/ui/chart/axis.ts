import { tickIncrement, tickStep } from 'd3-array'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../format.ts'

/** Scales of values with their ticks. Pure. */
export type Axis = { readonly low: number; readonly high: number; readonly ticks: readonly number[] }

/** Minimum distance of two ticks, in pixels. */
const TICK_PX = 44

const ticksFor = (heightPx: number): number => Math.max(2, Math.round(heightPx / TICK_PX))

/** Whole ticks from 0. The last is not below the maximum, so that every bar is below a line. */
export function countAxis(max: number, heightPx: number): Axis {
  const step = Math.max(1, tickStep(0, Math.max(1, max), ticksFor(heightPx)))
  const high = Math.max(1, Math.ceil(max / step)) * step
  return { low: 0, high, ticks: Array.from({ length: Math.round(high / step) + 1 }, (_, index) => index * step) }
}

const SECOND_MS = 1_000
/** Round steps of durations. */
const STEPS_MS = [
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
]

/** Round durations from 0, in milliseconds. The last tick is not below the maximum. */
export function durationAxis(maxMs: number, heightPx: number): Axis {
  const wanted = Math.max(1, maxMs) / ticksFor(heightPx)
  const step = STEPS_MS.find((one) => one >= wanted) ?? Math.ceil(wanted / DAY_MS) * DAY_MS
  const count = Math.max(1, Math.ceil(maxMs / step))
  return { low: 0, high: count * step, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) }
}

type ValueAxisOptions = {
  readonly heightPx: number
  /** Values that the axis always includes, such as thresholds. */
  readonly include?: readonly number[]
  readonly min?: number
  readonly max?: number
  /** The values are counts, whose ticks are whole numbers. */
  readonly counts?: boolean
}

/** Whole steps from just below the values and those of `include` to just above them, with a tick at both ends. */
export function valueAxis(values: readonly (number | null)[], options: ValueAxisOptions): Axis {
  const { heightPx, include = [], min = 0, max = Infinity, counts = false } = options
  const known = [...values.filter((value) => value !== null), ...include]
  const [lowest, highest] = known.length === 0 ? [0, 1] : [Math.min(...known), Math.max(...known)]
  const spread = highest - lowest || Math.abs(highest) * 0.1 || 1
  const wanted = ticksFor(heightPx)
  const from = Math.max(min, lowest - spread * 0.06)
  const to = Math.min(max, highest + spread * 0.06)
  const finest = tickIncrement(from, to, wanted)
  const increment = counts && finest < 1 ? 1 : finest
  // A negative increment means 1 / -increment, so that fractions are exact.
  const stepsTo = (value: number): number => (increment < 0 ? value * -increment : value / increment)
  const tickOf = (steps: number): number => (increment < 0 ? steps / -increment : steps * increment)
  const [first, last] = [Math.floor(stepsTo(from)), Math.ceil(stepsTo(to))]
  const steps = Array.from({ length: last - first + 1 }, (_, index) => tickOf(first + index))
  const ticks = steps.filter((tick) => tick >= min && tick <= max)
  return { low: ticks[0] ?? min, high: ticks.at(-1) ?? highest, ticks }
}

/** The position of a value between the ends, 0 to 1. */
export const share = (axis: Axis, value: number): number => (value - axis.low) / (axis.high - axis.low)
