import { setImmediate } from 'node:timers/promises'
import type { HistoryPoint } from './evaluator.ts'
import { MINUTE_MS, HOUR_MS } from '../../platform/kernel/day.ts'

/**
 * The windows at which a dry run measures the past: every quarter of an hour of the last two days, every hour before,
 * because rollups of older days have no shorter buckets. A window covers whole intervals.
 */

/** Rollups have quarters of an hour up to this age. */
const FINE_MS = 48 * HOUR_MS

/** Windows of one length, each ending with an interval. */
type Stretch = {
  readonly intervalMs: number
  /** How many intervals a window covers. */
  readonly length: number
  /** The first interval that is read begins here. */
  readonly readFrom: Date
  /** Excluded. */
  readonly to: Date
  /** The number after `readFrom` of the interval with which the first window ends. */
  readonly firstEnd: number
}

const floorTo = (at: number, stepMs: number): number => Math.floor(at / stepMs) * stepMs
const ceilTo = (at: number, stepMs: number): number => Math.ceil(at / stepMs) * stepMs

/**
 * The stretches of a range, oldest first. Windows of more than six hours move by hours only.
 */
export function splitIntoStretches(from: Date, to: Date, windowMinutes: number, now: Date): Stretch[] {
  const start = floorTo(from.getTime(), HOUR_MS)
  const end = floorTo(to.getTime(), 15 * MINUTE_MS)
  const windowMs = windowMinutes * MINUTE_MS
  // Windows of quarters of an hour read only what is recent enough for them.
  const fineFrom = ceilTo(Math.max(start, now.getTime() - FINE_MS), HOUR_MS)
  const fineStart = Math.min(end, fineFrom + ceilTo(windowMs, HOUR_MS))
  const stretches =
    windowMs > 6 * HOUR_MS
      ? [stretch(start, floorTo(end, HOUR_MS), HOUR_MS, windowMs)]
      : [
          stretch(start, floorTo(fineStart, HOUR_MS), HOUR_MS, windowMs),
          stretch(fineStart, end, 15 * MINUTE_MS, windowMs),
        ]
  return stretches.filter((one) => listWindowEnds(one).length > 0)
}

/** Windows that end after `from`, up to `to`. */
function stretch(from: number, to: number, intervalMs: number, windowMs: number): Stretch {
  const length = Math.max(1, Math.ceil(windowMs / intervalMs))
  return {
    intervalMs,
    length,
    readFrom: new Date(from - (length - 1) * intervalMs),
    to: new Date(to),
    firstEnd: length - 1,
  }
}

/** The end of each window with the number of its last interval. */
export function listWindowEnds({
  readFrom,
  to,
  intervalMs,
  firstEnd,
}: Stretch): { readonly at: Date; readonly slot: number }[] {
  const count = Math.round((to.getTime() - readFrom.getTime()) / intervalMs)
  return Array.from({ length: Math.max(0, count - firstEnd) }, (_, index) => {
    const slot = firstEnd + index
    return { at: new Date(readFrom.getTime() + (slot + 1) * intervalMs), slot }
  })
}

/** The cells of the intervals that a window covers, oldest first. */
export function coveredCells<C>({ length }: Stretch, cells: ReadonlyMap<number, C>, slot: number): C[] {
  const covered: C[] = []
  for (let at = slot - length + 1; at <= slot; at++) {
    const cell = cells.get(at)
    if (cell !== undefined) covered.push(cell)
  }
  return covered
}

/** Windows judged between two turns of the event loop: merging sketches takes a while. */
const JUDGED_AT_ONCE = 25

/**
 * The points of one subject.
 * @param judge what a window of these cells measures
 */
export async function pointsOver<C>(
  stretches: readonly Stretch[],
  subject: string,
  cells: (stretch: Stretch) => ReadonlyMap<number, C>,
  judge: (covered: readonly C[]) => Pick<HistoryPoint, 'value' | 'holds'>,
): Promise<HistoryPoint[]> {
  const points: HistoryPoint[] = []
  for (const stretch of stretches) {
    const bySlot = cells(stretch)
    for (const { at, slot } of listWindowEnds(stretch)) {
      points.push({ at, subject, ...judge(coveredCells(stretch, bySlot, slot)) })
      if (points.length % JUDGED_AT_ONCE === 0) await setImmediate()
    }
  }
  return points
}
