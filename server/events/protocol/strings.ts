/**
 * Text for PostgreSQL: `text` and `jsonb` accept neither NUL nor half a surrogate pair. Cuts keep surrogate pairs
 * whole.
 */

/** Removes NUL and replaces lone surrogates by U+FFFD; returns the same string when it is clean. */
export function storable(text: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text
  return text.replaceAll('\0', '').toWellFormed()
}

/** At most `max` UTF-16 units; a longer text is cut and ends in an ellipsis. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  let end = max - 1
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd800 && last <= 0xdbff) end -= 1
  return `${text.slice(0, end)}…`
}

/** Storable and at most `max` long. Cuts first, to clean less text. */
export function tidy(text: string, max: number): string {
  return storable(cut(text, max))
}

/** The first non-empty line of the first 4,096 characters, trimmed; empty without one. */
export function firstLine(text: string): string {
  const head = text.length > 4096 ? text.slice(0, 4096) : text
  let start = 0
  while (start < head.length) {
    let end = head.indexOf('\n', start)
    if (end < 0) end = head.length
    const line = head.slice(start, end).trim()
    if (line !== '') return line
    start = end + 1
  }
  return ''
}

/** A value that normalisation dropped or corrected; shown with the event. */
export type Note = { name: string; reason: string }

const MAX_NOTES = 50

export class Notes {
  readonly list: Note[] = []

  /** @param name the field as a path (`user.id`). Adds at most 50 notes */
  add(name: string, reason: string): void {
    if (this.list.length < MAX_NOTES) this.list.push({ name: tidy(name, 200), reason: tidy(reason, 200) })
  }
}
