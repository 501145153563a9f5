/** Texts of events inside sentences: one line, bounded, quoted. Pure. */

/** Control characters, and those that change the direction of the text after them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/** A text of an event as one line of at most `max` characters. */
export function cutLine(text: string, max: number): string {
  const line = text.replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim().toWellFormed()
  return line.length <= max
    ? line
    : `${line
        .slice(0, max - 1)
        .trimEnd()
        .toWellFormed()}…`
}

/** The same in quotation marks. Those inside become single ones, so that a text cannot end its quotation. */
export const quoted = (text: string, max = 120): string => `“${cutLine(text, max).replace(/[“”]/g, "'")}”`

export const wholePercent = (share: number): string => `${Math.round(share * 100)} %`

export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/** `27 Nov 2026 16:05 UTC`. */
export const momentText = (time: string | number): string => {
  const [day = '', clock = ''] = new Date(time).toISOString().split('T')
  const [year, month, date] = day.split('-')
  return `${Number(date)} ${MONTHS[Number(month) - 1]} ${year} ${clock.slice(0, 5)} UTC`
}
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `40 minutes`, `3 hours`, `2 days`. */
export function spanText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  if (minutes < 90) return counted(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return hours < 36 ? counted(hours, 'hour') : counted(Math.round(hours / 24), 'day')
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
