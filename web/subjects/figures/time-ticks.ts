import type { PlacedLabel } from '../../ui/chart/label-places.ts'
import { DAY_MS, MINUTE_MS, HOUR_MS, formatClock, formatDay, offsetMinutes, zoneName } from '../../ui/format.ts'
import { figuresTexts } from './texts.ts'

/** Labels of a time axis at whole hours and days of the wall clock. Pure, apart from the chosen time zone. */

/** The distance of labels, by the length of the axis. */
const STEPS: readonly (readonly [spanMs: number, stepMs: number])[] = [
  [30 * MINUTE_MS, 5 * MINUTE_MS],
  [2 * HOUR_MS, 10 * MINUTE_MS],
  [8 * HOUR_MS, HOUR_MS],
  [36 * HOUR_MS, 4 * HOUR_MS],
  [10 * DAY_MS, DAY_MS],
  [Infinity, 5 * DAY_MS],
]

/** A label within this share of the start is left out: it would lie across the axis of values. */
const START = 0.01

/**
 * Labels from `fromMs` to `toMs`. Steps of up to an hour are even in elapsed time. Longer ones follow the wall clock, so
 * that a day stays at midnight when the clocks change.
 * @param isNow the axis ends at the present
 */
export function timeTicks(fromMs: number, toMs: number, isNow: boolean): PlacedLabel[] {
  const span = toMs - fromMs
  if (!(span > 0)) return []
  const step = STEPS.find(([longest]) => span <= longest)?.[1] ?? DAY_MS
  const instants = step <= HOUR_MS ? evenly(fromMs, toMs, step) : onTheClock(fromMs, toMs, step)
  const places = instants
    .map((at) => ({ at: (at - fromMs) / span, text: step < DAY_MS ? formatClock(at) : formatDay(at, toMs) }))
    .filter(({ at }) => at >= START && at < 1)
  const zone = zoneName(toMs) === zoneName(toMs, 'local') ? '' : zoneName(toMs)
  const end = [isNow ? figuresTexts.now : '', zone].filter((part) => part !== '').join(', ')
  return end === '' ? places : [...places, { at: 1, text: end }]
}

function evenly(fromMs: number, toMs: number, step: number): number[] {
  const shift = offsetMinutes(fromMs) * MINUTE_MS
  const first = Math.ceil((fromMs + shift) / step) * step - shift
  return Array.from({ length: Math.max(0, Math.floor((toMs - first) / step) + 1) }, (_, index) => first + index * step)
}

/** Every `step` of the wall clock, counted from midnight. */
function onTheClock(fromMs: number, toMs: number, step: number): number[] {
  const wall = (at: number): number => at + offsetMinutes(at) * MINUTE_MS
  const found: number[] = []
  for (let clock = Math.floor(wall(fromMs) / step) * step; ; clock += step) {
    const at = instantOf(clock)
    if (at > toMs) return found
    if (at >= fromMs) found.push(at)
  }
}

/** The instant at which the wall clock shows a time; the offset is the one at the instant itself. */
function instantOf(wallMs: number): number {
  const guess = wallMs - offsetMinutes(wallMs) * MINUTE_MS
  return wallMs - offsetMinutes(guess) * MINUTE_MS
}
