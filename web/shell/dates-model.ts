import { MINUTE_MS, DAY_MS, formatMoment, offsetMinutes } from '../ui/format.ts'
import { datesTexts } from './dates-texts.ts'

/** Dates of one's own as the form has them: texts of the wall clock in the chosen zone. Pure, apart from that zone. */

/** The longest time that issues are counted in. */
export const MAX_DAYS = 90

/** `2026-11-20T06:15`, as date-time inputs have it. */
export const wallText = (at: number): string =>
  new Date(at + offsetMinutes(at) * MINUTE_MS).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)

/** The instant of a wall-clock text; null if it is none. A time that the clock skips is an hour later. */
export function parseWallClock(text: string): number | null {
  const asUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) ? Date.parse(`${text}Z`) : NaN
  if (Number.isNaN(asUtc)) return null
  // The offset at the instant itself: the first guess may be on the other side of a change of the clock.
  const guess = asUtc - offsetMinutes(asUtc) * MINUTE_MS
  return asUtc - offsetMinutes(guess) * MINUTE_MS
}

/** The form in the address: `2026-11-20T06:15Z`. */
const minuteOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`

export type Dates = { readonly from: string; readonly to: string }
export type DateErrors = { readonly from?: string; readonly to?: string }

/** The times of the address, or what is wrong with the fields. */
export function parseDates(fields: Dates, now: number): { dates: Dates } | { errors: DateErrors } {
  const [from, to] = [parseWallClock(fields.from), parseWallClock(fields.to)]
  const texts = datesTexts
  const wrong = (at: number | null) => (at === null ? texts.missing : at > now ? texts.future : undefined)
  const [fromError, toError] = [wrong(from), wrong(to)]
  if (from === null || to === null || fromError !== undefined || toError !== undefined)
    return {
      errors: {
        ...(fromError === undefined ? {} : { from: fromError }),
        ...(toError === undefined ? {} : { to: toError }),
      },
    }
  if (from >= to) return { errors: { to: texts.order } }
  if (to - from > MAX_DAYS * DAY_MS)
    return { errors: { from: texts.tooLong(MAX_DAYS, formatMoment(to - MAX_DAYS * DAY_MS, now)) } }
  return { dates: { from: minuteOf(from), to: minuteOf(to) } }
}
