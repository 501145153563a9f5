import { z } from 'zod'
import { type CountWindow, isWindow } from '../rules/count-window.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { wrongCursor } from '../../platform/kernel/cursor.ts'
import type { IssueSort } from '../rules/issue.api.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/**
 * The cursor of an issue list: its sort, and value and id of the last row of the page. If the values are counts of a range,
 * also that range: otherwise it would be a later one for the next page.
 */

type SortKey = StoredSortKey | RangeSortKey
/** Columns. */
export type StoredSortKey = 'last_seen' | 'first_seen' | 'event_count' | 'user_count' | 'severity'
export type RangeSortKey = 'event_count_in_range' | 'user_count_in_range'

export type Cursor = {
  readonly sort: IssueSort
  readonly value: string
  readonly id: string
  readonly window: CountWindow | null
}

const Place = [z.string(), z.string(), z.uuid()] as const
const CursorParts = z.union([z.tuple(Place), z.tuple([...Place, z.int(), z.int()])])
/** As `toISOString` writes it; PostgreSQL has no year 0. */
const CursorTime = z.iso.datetime().refine((time) => !time.startsWith('0000'))

export const sortKey = (sort: IssueSort): SortKey => sort.replace(/^-/, '') as SortKey
export const isRangeKey = (key: SortKey): key is RangeSortKey => key.endsWith('_in_range')

/** @param window of counts that the list is sorted by */
export function encodeCursor(
  sort: IssueSort,
  { id, value }: { readonly id: string; readonly value: Date | number },
  window: CountWindow | null,
): string {
  const parts = [sort, value instanceof Date ? value.toISOString() : String(value), id]
  return Buffer.from(JSON.stringify(window === null ? parts : [...parts, window.from, window.to])).toString('base64url')
}

/** @throws AppError invalid if the cursor is malformed or belongs to another sort */
export function decodeCursor(text: string, sort: IssueSort): Cursor {
  const parts = CursorParts.safeParse(readJsonText(Buffer.from(text, 'base64url')))
  if (!parts.success) throw wrongCursor()
  const [cursorSort, value, id, from, to] = parts.data
  if (cursorSort !== sort) throw invalid('cursor belongs to another sort. Start again without it.')
  const isValue = sort.endsWith('_seen') ? CursorTime.safeParse(value).success : /^\d{1,15}$/.test(value)
  const window = from === undefined || to === undefined ? null : { from, to }
  if (!isValue || isRangeKey(sortKey(sort)) !== (window !== null)) throw wrongCursor()
  if (window !== null && !isWindow(window)) throw wrongCursor()
  return { sort, value, id, window }
}
