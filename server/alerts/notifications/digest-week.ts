/** A weekly digest: when it is due (pure). */

/** Monday at this hour, on the wall clock of the member's zone. */
const HOUR = 8

export type DigestWeek = {
  /** The Monday on which it is sent, as YYYY-MM-DD. */
  readonly week: string
  readonly at: Date
}

/** The newest time at which a digest was due in a time zone. A time that a change of summer time skips comes after it. */
export function digestWeek(now: Date, timeZone: string): DigestWeek {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate()
  const monday = today.subtract({ days: today.dayOfWeek - 1 })
  const due = (date: Temporal.PlainDate): DigestWeek => ({
    week: date.toString(),
    at: new Date(date.toZonedDateTime({ timeZone, plainTime: { hour: HOUR } }).epochMilliseconds),
  })
  const newest = due(monday)
  return newest.at <= now ? newest : due(monday.subtract({ days: 7 }))
}
