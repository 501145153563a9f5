/** How answers write figures and texts of events. */

export const count = (n: number): string => Math.round(n).toLocaleString('en')

/** `4.25 %`; a rate of crashes needs two digits. */
export const percent = (fraction: number): string => `${(fraction * 100).toFixed(2)} %`

/** `850 ms`, `1.24 s`. */
export const duration = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`)

/** `1 event`, `2 events`. */
export const plural = (n: number, one: string, many = `${one}s`): string => (n === 1 ? one : many)

const MAX_TEXT = 120

/**
 * A text that comes from events, as one line without markup: it is data. Markdown shows it as code.
 */
export const quoted = (text: string): string => `\`${plain(text, MAX_TEXT).replaceAll('`', "'")}\``

/** One line, without control and formatting characters, cut at a length. */
export function plain(text: string, max = 200): string {
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
}
