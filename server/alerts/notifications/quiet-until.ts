import { type QuietHours, WEEKDAYS } from '#shared/quiet-hours.ts'

/**
 * The end of the quiet hours that hold at a time; null when none do. Times of the wall clock that a change of summer time
 * skips mean the same distance after it; of those that happen twice the first one counts.
 */
export function quietUntil(quiet: QuietHours, now: Date): Date | null {
  if (!quiet.enabled) return null
  const at = Temporal.Instant.fromEpochMilliseconds(now.getTime())
  const today = at.toZonedDateTimeISO(quiet.time_zone).toPlainDate()
  let until: Temporal.Instant | null = null
  // Quiet hours that began yesterday, and those that follow without a pause.
  for (let day = -1; day <= WEEKDAYS.length; day++) {
    const period = periodOf(quiet, today.add({ days: day }))
    if (period === null) continue
    const heldBy = until ?? at
    const isHolding = Temporal.Instant.compare(period.from, heldBy) <= 0
    if (isHolding && Temporal.Instant.compare(heldBy, period.to) < 0) until = period.to
  }
  return until === null ? null : new Date(until.epochMilliseconds)
}

/** The quiet hours that begin on a day. */
function periodOf({ start, end, time_zone: timeZone, days }: QuietHours, day: Temporal.PlainDate) {
  const weekday = WEEKDAYS[day.dayOfWeek - 1]
  if (weekday === undefined || !days.includes(weekday)) return null
  const instant = (date: Temporal.PlainDate, time: string) =>
    date.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) }).toInstant()
  return { from: instant(day, start), to: instant(end > start ? day : day.add({ days: 1 }), end) }
}
