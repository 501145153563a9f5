import { z } from 'zod'
import { invalid } from '../kernel/errors.ts'
import type { IssueSort } from '../issue-rules/issue.api.ts'

/** The cursor of an issue list: its sort, and value and id of the last row of the page. */

type SortKey = 'last_seen' | 'first_seen' | 'event_count' | 'user_count' | 'severity'

export type Cursor = { readonly sort: IssueSort; readonly value: string; readonly id: string }

const CursorParts = z.tuple([z.string(), z.string(), z.uuid()])
/** As `toISOString` writes it; PostgreSQL has no year 0. */
const CursorTime = z.iso.datetime().refine((time) => !time.startsWith('0000'))

export const sortKey = (sort: IssueSort): SortKey => sort.replace(/^-/, '') as SortKey

export function encodeCursor(
  sort: IssueSort,
  row: { readonly id: string } & Readonly<Record<SortKey, Date | number>>,
): string {
  const value = row[sortKey(sort)]
  const cursor: Cursor = { sort, value: value instanceof Date ? value.toISOString() : String(value), id: row.id }
  return Buffer.from(JSON.stringify(Object.values(cursor))).toString('base64url')
}

/** @throws AppError invalid if the cursor is malformed or belongs to another sort */
export function decodeCursor(text: string, sort: IssueSort): Cursor {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    json = null
  }
  const parts = CursorParts.safeParse(json)
  if (!parts.success) throw invalid('cursor is not valid for this list. Use next_cursor of its previous page.')
  const [cursorSort, value, id] = parts.data
  const isValue = sort.endsWith('_seen') ? CursorTime.safeParse(value).success : /^\d{1,15}$/.test(value)
  if (cursorSort === sort && !isValue)
    throw invalid('cursor is not valid for this list. Use next_cursor of its previous page.')
  if (cursorSort !== sort) throw invalid('cursor belongs to another sort. Start again without it.')
  return { sort, value, id }
}
