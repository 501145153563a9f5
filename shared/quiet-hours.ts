/** Quiet hours, in which a member is not disturbed; for server and browser. */

/** In the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

export type QuietHours = {
  readonly enabled: boolean
  /** `HH:MM` on the wall clock of the zone. */
  readonly start: string
  /** At or before the start: on the next day. Equal to it: a whole day. */
  readonly end: string
  /** IANA name. */
  readonly time_zone: string
  /** Days on which they begin. */
  readonly days: readonly Weekday[]
}

/** Whether they would never end. */
export const isEndless = ({ start, end, days }: Pick<QuietHours, 'start' | 'end' | 'days'>): boolean =>
  start === end && new Set(days).size === WEEKDAYS.length

/** Whether the text is an IANA name, such as `Europe/Berlin`, that this runtime knows; offsets are none. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) instanceof Intl.DateTimeFormat
  } catch {
    return false
  }
}
