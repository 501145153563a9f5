import { z } from 'zod'
import { invalid } from './errors.ts'
import type { NameSort, Page } from './page.api.ts'
import { readJsonText } from './json.api.ts'

export type NameListInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: NameSort
}

/** The rows that a query for one page selects; `limit` includes one more row, which shows if there is a next page. */
export type NameListing = {
  readonly sort: 'name' | 'created_at'
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
  /** Sort value and id of the last row of the previous page. */
  readonly after: { readonly value: string; readonly id: string } | null
}

type NamedRow = { readonly id: string; readonly folded_name: string; readonly created_at: Date }

/**
 * Returns a page of a list that is sorted by name or time of creation.
 * @throws AppError invalid for a cursor of another sort
 */
export async function pageByName<Row extends NamedRow, Item>(
  { sort, limit, offset, cursor }: NameListInput,
  select: (listing: NameListing) => Promise<Row[]>,
  count: () => Promise<number>,
  view: (row: Row) => Item,
): Promise<Page<Item>> {
  const listing = {
    sort: sort.endsWith('name') ? ('name' as const) : ('created_at' as const),
    descending: sort.startsWith('-'),
    limit: limit + 1,
    offset: cursor === undefined ? offset : 0,
    after: cursor === undefined ? null : readCursor(cursor, sort),
  }
  const [rows, total] = await Promise.all([select(listing), count()])
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: page.map(view),
    total,
    limit,
    offset: listing.offset,
    next_cursor: last === undefined ? null : makeCursor(sort, last),
  }
}

const Cursor = z.tuple([z.string(), z.string(), z.uuid()])

function makeCursor(sort: NameSort, row: NamedRow): string {
  const value = sort.endsWith('name') ? row.folded_name : row.created_at.toISOString()
  return Buffer.from(JSON.stringify([sort, value, row.id])).toString('base64url')
}

function readCursor(text: string, sort: NameSort): { value: string; id: string } {
  const wrong = () => invalid('cursor must be the next_cursor of a page with the same sort.')
  const cursor = Cursor.safeParse(readJsonText(Buffer.from(text, 'base64url')))
  if (!cursor.success) throw wrong()
  const [sortOfCursor, value, id] = cursor.data
  if (sortOfCursor !== sort || value.includes('\0')) throw wrong()
  if (!sort.endsWith('name') && !z.iso.datetime().safeParse(value).success) throw wrong()
  return { value, id }
}
