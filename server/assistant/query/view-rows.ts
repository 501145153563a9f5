import type { ReadField, ReadRows } from '../../platform/storage/read-only.ts'
import type { QueryResult } from './query.api.ts'

type Columns = QueryResult['columns']
type Rows = QueryResult['rows']
type Type = Columns[number]['type']
type Cell = Rows[number][number]
export type ChartHint = QueryResult['chart_hint']

/** Characters of a cell; a longer text is cut. */
const MAX_CELL_BYTES = 8_192

/** The types of PostgreSQL (`pg_type.oid`) that are more than texts. */
const TYPES: Readonly<Record<number, Type>> = {
  16: 'boolean',
  20: 'number', // int8
  21: 'number', // int2
  23: 'number', // int4
  700: 'number', // float4
  701: 'number', // float8
  1700: 'number', // numeric
  1082: 'time', // date
  1114: 'time', // timestamp
  1184: 'time', // timestamptz
}

/** Rows as the API shows them. Numbers that a double does not hold stay texts. */
export function viewRows({ fields, rows, isCut }: ReadRows): { columns: Columns; rows: Rows; truncated: boolean } {
  const types = fields.map(({ typeId }) => TYPES[typeId] ?? 'text')
  let isShortened = false
  const shown = rows.map((row) =>
    row.map((text, i) => {
      if (text === null) return null
      const short = shorten(text)
      isShortened ||= short !== text
      return cellOf(short, types[i] ?? 'text')
    }),
  )
  return { columns: columnsOf(fields, types), rows: shown, truncated: isCut || isShortened }
}

const columnsOf = (fields: readonly ReadField[], types: readonly Type[]): Columns =>
  fields.map(({ name }, i) => ({ name, type: types[i] ?? 'text' }))

function cellOf(text: string, type: Type): Cell {
  if (type === 'boolean') return text === 't'
  if (type === 'time') return timeOf(text)
  if (type !== 'number') return text
  const value = Number(text)
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? value : text
}

/** `2026-11-28 10:00:00.5+00` → `2026-11-28T10:00:00.500Z`. Days and other forms, such as infinity, stay as they are. */
function timeOf(text: string): string {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/.exec(text) ?? []
  if (day === undefined || clock === undefined) return text
  const [whole = '', fraction = ''] = clock.split('.')
  return `${day}T${whole}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
}

function shorten(text: string): string {
  if (Buffer.byteLength(text) <= MAX_CELL_BYTES) return text
  return Buffer.from(text)
    .subarray(0, MAX_CELL_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '')
}

/** A drawing that suits the columns: times are lines, names are bars, one number stands alone. */
export function chooseDrawing(columns: Columns, rows: Rows): ChartHint {
  const y = columns.find(({ type }) => type === 'number')?.name ?? null
  const time = columns.find(({ type }) => type === 'time')?.name
  const [first] = columns
  if (y === null || rows.length === 0) return TABLE
  if (rows.length === 1 && columns.length === 1) return { kind: 'number', x: null, y }
  if (time !== undefined && rows.length > 1) return { kind: 'line', x: time, y }
  if (first?.type === 'text' && rows.length > 1 && rows.length <= 50) return { kind: 'bar', x: first.name, y }
  return TABLE
}

const TABLE: ChartHint = { kind: 'table', x: null, y: null }
