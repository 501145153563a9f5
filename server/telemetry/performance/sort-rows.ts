import type { PerformanceSort } from './performance.api.ts'

/** Values by which rows are sorted. */
export type Sortable = {
  readonly name: string
  readonly op: string
  readonly p50: number | null
  readonly p75: number | null
  readonly p95: number | null
  readonly count: number
  /** The sum of the durations. */
  readonly total: number
  readonly failures: number
}

/** Sorts rows; unknown values come last, equal ones are in order of their names. */
export function sortRows<T>(rows: readonly T[], sort: PerformanceSort, of: (row: T) => Sortable): T[] {
  const descending = sort.startsWith('-')
  const key = KEYS.find((one) => one === sort.replace('-', '')) ?? 'count'
  return rows.toSorted((left, right) => {
    const [a, b] = [of(left), of(right)]
    const byName = compareTexts(a.name, b.name) || compareTexts(a.op, b.op)
    if (key === 'name') return descending ? -byName : byName
    const [one, other] = [a[key], b[key]]
    if (one === null || other === null) return Number(one === null) - Number(other === null) || byName
    return (descending ? other - one : one - other) || byName
  })
}

const KEYS = ['p50', 'p75', 'p95', 'count', 'total', 'failures', 'name'] as const
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A page of rows that are all in memory. */
export const pageOfRows = <T>(rows: readonly T[], { limit, offset }: { limit: number; offset: number }) => ({
  items: rows.slice(offset, offset + limit),
  total: rows.length,
  limit,
  offset,
  next_cursor: null,
})
