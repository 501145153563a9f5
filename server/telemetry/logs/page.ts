import type { RangeName } from '#shared/issue-values.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { cutPage, readStart } from '../../platform/kernel/cursor.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { decodeTimeCursor, encodeTimeCursor } from '../../platform/kernel/time-cursor.ts'
import { timeRange } from '../../platform/kernel/time-range.ts'
import type { Slice, TimeRange } from './telemetry.queries.ts'

export type PageInput = { readonly limit: number; readonly offset: number; readonly cursor?: string | undefined }
export type RangeInput = {
  readonly range?: RangeName | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** @throws AppError invalid when the range is empty, or given twice */
export function parseLogRange({ range: name, from, to }: RangeInput, now: Date): Omit<TimeRange, 'oldestDay'> {
  if (name !== undefined) {
    if (from !== undefined || to !== undefined) throw invalid('Send either range, or from and to.')
    return { from: new Date(timeRange(now, name).from), to: null }
  }
  const range = { from: from === undefined ? null : new Date(from), to: to === undefined ? null : new Date(to) }
  if (range.from !== null && range.to !== null && range.from >= range.to) throw invalid('from must be before to.')
  return range
}

/**
 * One page of a list by time and id. Selects one row more than `limit` to know whether there is a next page.
 * @throws AppError invalid for an invalid cursor, or a cursor with an offset
 */
export async function pageByTime<Row extends { readonly id: string }, Item>(
  { limit, offset, cursor }: PageInput,
  list: {
    select(slice: Slice): Promise<readonly Row[]>
    count(): Promise<number>
    at(row: Row): Date
    view(row: Row): Item
  },
): Promise<Page<Item>> {
  const after = readStart({ offset, cursor }, decodeTimeCursor)
  const [rows, total] = await Promise.all([list.select({ limit: limit + 1, offset, after }), list.count()])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) =>
    encodeTimeCursor({ at: list.at(last), id: last.id }),
  )
  return {
    items: shown.map((row) => list.view(row)),
    ...figures,
  }
}
