import type { QueryResult } from '../../../api/assistant-queries.ts'

/** Results and refusals of statements. Pure. */

type Column = QueryResult['columns'][number]
type Cell = QueryResult['rows'][number][number]

/** A part of a statement; `added` by the server. */
export type StatementPart = { readonly text: string; readonly added: boolean }

/** The statement in parts. */
export function statementParts(sql: string, additions: QueryResult['additions']): StatementPart[] {
  const parts: StatementPart[] = []
  let at = 0
  for (const { from, to } of additions.toSorted((a, b) => a.from - b.from)) {
    if (from < at || to <= from || to > sql.length) continue
    if (from > at) parts.push({ text: sql.slice(at, from), added: false })
    parts.push({ text: sql.slice(from, to), added: true })
    at = to
  }
  if (at < sql.length) parts.push({ text: sql.slice(at), added: false })
  return parts
}

/** Whether a statement would do something else than read, by its first word. */
export const changesData = (sql: string): boolean => !/^\s*\(*\s*(?:select|with|values|table)\b/iu.test(sql)

/** The part of a question that was not understood: the header `X-Query-Mistake`. */
export function findMistake(
  header: string | null,
  question: string,
): { before: string; marked: string; after: string } | null {
  try {
    const given: unknown = JSON.parse(header ?? 'null')
    if (typeof given !== 'object' || given === null || !('position' in given)) return null
    const { position } = given
    if (typeof position !== 'object' || position === null || !('start' in position) || !('end' in position)) return null
    const { start, end } = position
    if (typeof start !== 'number' || typeof end !== 'number' || start < 0 || end <= start) return null
    return { before: question.slice(0, start), marked: question.slice(start, end), after: question.slice(end) }
  } catch {
    return null
  }
}

/** A drawing of a result; null where a table says more. */
export type Drawing = {
  readonly kind: 'bar' | 'line'
  readonly name: string
  readonly places: readonly Cell[]
  readonly values: readonly (number | null)[]
}

/** With more marks, a drawing is a blur. */
const MAX_MARKS = 400

export function findDrawing({ chart_hint: hint, columns, rows }: QueryResult): Drawing | null {
  if (hint.kind !== 'bar' && hint.kind !== 'line') return null
  const x = columns.findIndex(({ name }) => name === hint.x)
  const y = columns.findIndex(({ name, type }) => name === hint.y && type === 'number')
  if (x < 0 || y < 0 || rows.length < 2 || rows.length > MAX_MARKS) return null
  return {
    kind: hint.kind,
    name: hint.y ?? '',
    places: rows.map((row) => row[x] ?? null),
    values: rows.map((row) => toNumber(row[y])),
  }
}

export const toNumber = (cell: Cell | undefined): number | null => (typeof cell === 'number' ? cell : null)

/** The column with bars beside its numbers: the one of the drawing, else the first of numbers above zero. */
export function findBarColumn({
  columns,
  rows,
  chart_hint: hint,
}: QueryResult): { column: number; max: number } | null {
  const named = columns.findIndex(({ name, type }) => name === hint.y && type === 'number')
  const column = named >= 0 ? named : columns.findIndex(({ type }) => type === 'number')
  const values = rows.flatMap((row) => toNumber(row[column]) ?? [])
  if (column < 0 || rows.length < 2 || values.some((value) => value < 0)) return null
  const max = Math.max(0, ...values)
  return max === 0 ? null : { column, max }
}

/** The result as CSV. Spreadsheets run texts that begin as formulas; an apostrophe makes them texts. */
export function toCsv(columns: readonly Column[], rows: QueryResult['rows']): string {
  const lines = [columns.map(({ name }) => name), ...rows].map((cells) => `${cells.map(csvCell).join(',')}\r\n`)
  return lines.join('')
}

function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell)
  const text = cell
    .replace(/^(?= *[=+\-@＝＋－＠]|[;\t\r\n])/u, "'")
    .replaceAll(/([;\t\r\n])(?= *[=+\-@＝＋－＠])/gu, "$1'")
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
