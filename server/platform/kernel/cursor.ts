import type { z } from 'zod'
import { type AppError, invalid } from './errors.ts'
import { TOTAL_CAP } from './page.api.ts'
import { readJsonText } from './json.api.ts'

/** Cursors of lists: what the order needs of the last row of a page, as JSON in base64url. */

/** Dates become ISO strings. */
export const writeCursor = (...parts: readonly (string | number | boolean | Date)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** @throws AppError invalid when the text is not a cursor of that form */
export function readCursor<T>(text: string, form: z.ZodType<T>): T {
  const parts = form.safeParse(readJsonText(Buffer.from(text, 'base64url')))
  if (!parts.success) throw wrongCursor()
  return parts.data
}

export const wrongCursor = (): AppError =>
  invalid('cursor is not valid for this list. Use next_cursor of its previous page.')

type Start = { readonly offset: number; readonly cursor?: string | undefined }

/**
 * Reads what the cursor of a page names; null without one.
 * @throws AppError invalid, also for a cursor beside an offset
 */
export function readStart<T>({ offset, cursor }: Start, read: (cursor: string) => T): T | null {
  if (cursor === undefined) return null
  if (offset > 0) throw invalid('Send either cursor or offset, not both.')
  return read(cursor)
}

/** The number of rows before a page of a list that is so short that its cursor is that number. @throws AppError invalid */
export const readRowsBefore = (start: Start): number =>
  readStart(start, (cursor) => {
    if (!/^\d{1,7}$/.test(cursor)) throw wrongCursor()
    return Number(cursor)
  }) ?? start.offset

/**
 * Cuts rows to a page and its figures; one row more than the limit was read.
 * @param cursorAfter the cursor of what follows the last row
 */
export function cutPage<Row>(
  rows: readonly Row[],
  { limit, offset, total }: { readonly limit: number; readonly offset: number; readonly total: number },
  cursorAfter: (last: Row) => string,
) {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  const figures = {
    total: Math.min(total, TOTAL_CAP),
    ...(total > TOTAL_CAP ? { total_capped: true as const } : {}),
    limit,
    offset,
    next_cursor: last === undefined ? null : cursorAfter(last),
  }
  return { shown, figures }
}
