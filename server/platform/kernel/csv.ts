import { z } from 'zod'

/** Tables as CSV (RFC 4180), sent by routes with `csv` when the call has `format=csv`. */

export type Cell = string | number | boolean | null

export type CsvTable = {
  /** Name of the file, without its ending. */
  readonly name: string
  readonly textOf: (answer: unknown) => string
}

type ColumnsOf<R> = { [K in keyof R]-?: R[K] extends Cell | undefined ? K : never }[keyof R] & string

/** Query field of routes with `csv`. */
export const formatQuery = {
  format: z
    .enum(['json', 'csv'], { error: 'format must be json or csv.' })
    .default('json')
    .describe('`csv` downloads the rows as a table.'),
}

/** How the answer of a route becomes a table with these columns. */
export const csvTable = <S extends z.ZodType, R extends object>(
  name: string,
  answer: S,
  rowsOf: (answer: z.output<S>) => readonly R[],
  columns: readonly ColumnsOf<R>[],
): CsvTable => ({ name, textOf: (given) => csvText(columns, rowsOf(answer.parse(given))) })

/** A table as text, with a header and lines that end with CRLF. */
export function csvText(columns: readonly string[], rows: readonly object[]): string {
  const lines = rows.map((row) => {
    const cells = new Map<string, unknown>(Object.entries(row))
    return columns.map((column) => cellText(cells.get(column)))
  })
  return [columns, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

/**
 * Clients choose names of releases and devices, and spreadsheets run a text that begins like a formula: an apostrophe
 * makes it text again. Some separate cells at semicolons or tabs, so that a formula may follow one, and skip spaces.
 * Numbers stay numbers.
 */
function cellText(cell: unknown): string {
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  if (typeof cell !== 'string') return ''
  const text = cell.replaceAll(LATER_FORMULA, "$1'").replace(FORMULA, "'")
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The begin of a text that is a formula or a separator; full-width signs count in some spreadsheets. */
const FORMULA = /^(?= *[=+\-@＝＋－＠]|[;\t\r\n])/
const LATER_FORMULA = /([;\t\r\n])(?= *[=+\-@＝＋－＠])/g
