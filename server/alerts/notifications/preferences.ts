import { z } from 'zod'
import { SEVERITIES, type SeverityName } from '#shared/issue-values.ts'
import { type QuietHours, WEEKDAYS } from '#shared/quiet-hours.ts'

/** How a member wants to be notified outside the dashboard. */
export type Preferences = {
  readonly email: boolean
  readonly push: boolean
  /** Pushes below it are not sent. */
  readonly pushMinSeverity: SeverityName
  readonly quietHours: QuietHours
  readonly digest: { readonly enabled: boolean; readonly timeZone: string }
}

/** Preferences of members who changed nothing: a member who registers a device asks for all pushes. */
export const DEFAULTS: Preferences = {
  email: true,
  push: true,
  pushMinSeverity: 'low',
  quietHours: { enabled: false, start: '22:00', end: '07:00', time_zone: 'UTC', days: WEEKDAYS },
  digest: { enabled: false, timeZone: 'UTC' },
}

/** As it is stored. */
export const StoredQuietHours = z.object({
  enabled: z.boolean(),
  start: z.string(),
  end: z.string(),
  time_zone: z.string(),
  days: z.array(z.enum(WEEKDAYS)),
})

/** Until when a mail or push waits; null when it is sent now. Quiet hours never hold back what is critical. */
export const heldUntil = (
  { quietHours }: Pick<Preferences, 'quietHours'>,
  severity: SeverityName,
  now: Date,
): Date | null => (severity === 'critical' ? null : quietUntil(quietHours, now))

/** For `NewDelivery.holdMs` and `QueuedMail.holdMs`: how long that is. */
export const computeHoldMs = (until: Date | null, now: Date): number =>
  until === null ? 0 : Math.max(0, until.getTime() - now.getTime())

export const wantsPush = ({ push, pushMinSeverity }: Preferences, severity: SeverityName): boolean =>
  push && SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(pushMinSeverity)

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
