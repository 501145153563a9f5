import type { EventRow } from '../../../../api/issue-event-queries.ts'
import { shortVersion } from '../../../../subjects/issue/trend.ts'

/** The columns of a list of events. Pure. */

export type Column = {
  /** As in the address: a name of `FIXED`, or `tag.` and a tag's key. */
  id: string
  /** Null for a column of a tag, whose head is its key. */
  fixed: Fixed | null
  tag: string | null
}

const FIXED = ['event', 'level', 'release', 'environment', 'user', 'device', 'os'] as const
export type Fixed = (typeof FIXED)[number]

/** They are shown even if all events have the same value. */
const ALWAYS: readonly Fixed[] = ['release', 'environment', 'user', 'device']
/** So many columns of tags are shown by default. */
const MAX_TAGS = 3
/** Tags that repeat what a fixed column says. */
const COVERED = new Set(['release', 'environment', 'level', 'user', 'device', 'os', 'dist'])

const fixedColumn = (fixed: Fixed): Column => ({ id: fixed, fixed, tag: null })
const tagColumn = (tag: string): Column => ({ id: `tag.${tag}`, fixed: null, tag })

/** The text of a cell; `title` is the whole of a shortened value. */
export function columnCell(row: EventRow, column: Column): { text: string; title: string } {
  const whole = (text: string | null) => ({ text: text ?? '', title: text ?? '' })
  switch (column.fixed) {
    case null:
      return whole(row.tags.find(({ key }) => key === column.tag)?.value ?? null)
    case 'event':
      return whole(row.title)
    case 'release':
      return { text: row.release === null ? '' : shortVersion(row.release), title: row.release ?? '' }
    case 'user':
      return whole(row.user?.label ?? null)
    default:
      return whole(row[column.fixed])
  }
}

/** Every column that these events can fill: the fixed ones, then tags by their key. */
export function listColumns(rows: readonly EventRow[]): Column[] {
  const keys = new Set(rows.flatMap((row) => row.tags.map(({ key }) => key)))
  return [...FIXED.map(fixedColumn), ...[...keys].toSorted((a, b) => a.localeCompare(b)).map(tagColumn)]
}

/** The columns that tell the events apart, and a few that are always of interest. */
export function defaultColumns(rows: readonly EventRow[]): Column[] {
  const varies = (column: Column) => new Set(rows.map((row) => columnCell(row, column).title)).size > 1
  const columns = listColumns(rows)
  const tags = columns.filter((column) => column.tag !== null && !COVERED.has(column.tag) && varies(column))
  const fixed = columns.filter(({ fixed: name }) => name !== null)
  return [
    ...fixed.filter((column) => ALWAYS.some((name) => name === column.id) || varies(column)),
    ...tags.slice(0, MAX_TAGS),
  ]
}

/** The columns of the address, in the order of `listColumns`; unknown names are tags that no loaded event has. */
export function chosenColumns(rows: readonly EventRow[], ids: readonly string[]): Column[] {
  const known = listColumns(rows)
  const missing = ids.filter((id) => id.startsWith('tag.') && !known.some((column) => column.id === id))
  return [...known.filter(({ id }) => ids.includes(id)), ...missing.map((id) => tagColumn(id.slice('tag.'.length)))]
}
