import { z } from 'zod'
import { invalid } from '../kernel/errors.ts'
import type { IssueSort } from '../issue-rules/issue.api.ts'

/** Where a page of issues ended: the sort it belongs to, and the value and id of its last row. */

type SortKey = 'last_seen' | 'first_seen' | 'event_count' | 'user_count' | 'severity'

export type Cursor = { readonly sort: IssueSort; readonly value: string; readonly id: string }

const CursorParts = z.tuple([z.string(), z.string(), z.uuid()])
/** As `toISOString` gives it for years PostgreSQL reads the same way; it has no year 0. */
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

/** @throws AppError invalid when the cursor is not one of ours or belongs to another sort */
export function decodeCursor(text: string, sort: IssueSort): Cursor {
  let given: unknown
  try {
    given = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    given = null
  }
  const parts = CursorParts.safeParse(given)
  if (!parts.success) throw invalid('cursor is not one this list gave out.')
  const [cursorSort, value, id] = parts.data
  const isValue = sort.endsWith('_seen') ? CursorTime.safeParse(value).success : /^\d{1,15}$/.test(value)
  if (cursorSort === sort && !isValue) throw invalid('cursor is not one this list gave out.')
  if (cursorSort !== sort) throw invalid('cursor belongs to another sort; start again without it.')
  return { sort, value, id }
}
