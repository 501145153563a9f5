import { utcDay } from '../../platform/kernel/day.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { ALL_ID, attributesId, type Dimension, type Level, MAX_NEW_PER_DAY, otherId } from './dimensions.ts'
import * as sql from './fold.queries.ts'

/** Values that a fold met at a level. */
export type Wanted = {
  readonly projectId: string
  readonly level: Level
  readonly values: Readonly<Partial<Record<Dimension, string>>>
  /** Sessions and events in this fold, by the UTC day of their bucket. */
  readonly occurrences: Map<string, number>
}

/** While more than half of a limit is used, values need this many occurrences in a fold: few of junk have them. */
const MIN_OCCURRENCES = 5

/**
 * The ids that values are counted under: their own, or the one of what exceeds the limit of their level. Known values
 * keep their own.
 * @returns ids in the given order
 */
export async function admitAttributes(tx: Tx, now: Date, wanted: readonly Wanted[]): Promise<number[]> {
  const today = utcDay(now)
  const rows = wanted.map(({ projectId, level, values }) => ({
    projectId,
    level,
    values,
    id: attributesId(level, values),
  }))
  const known = await sql.findAttributes(
    tx,
    today,
    rows.filter(({ id }) => id !== ALL_ID),
  )
  const projects = [...new Set(wanted.map(({ projectId }) => projectId))]
  const admittedToday = new Map(
    (await sql.readDays(tx, today, projects)).map((day) => [`${day.projectId}/${day.level}`, day.admitted]),
  )
  const ids = rows.map(({ id }) => id)
  const days = new Map<string, { row: Omit<sql.DayCount, 'admitted' | 'refused'>; admitted: number; refused: number }>()
  const dayCount = (projectId: string, level: Level, day: string) => {
    const key = `${projectId}/${day}/${level}`
    let count = days.get(key)
    if (count === undefined) days.set(key, (count = { row: { projectId, level, day }, admitted: 0, refused: 0 }))
    return count
  }
  const writes = new Map<string, sql.AttributesRow>()
  // The most frequent first, so that a flood of made-up values leaves room for them.
  for (const index of byOccurrences(wanted)) {
    const [row, want] = [rows[index], wanted[index]]
    if (row === undefined || want === undefined || row.level === 'all') continue
    const found = known.get(sql.attributesKey(row.projectId, row.id))
    if (found !== undefined) {
      if (!found.isUsed) writes.set(sql.attributesKey(row.projectId, row.id), row)
      continue
    }
    const key = `${row.projectId}/${row.level}`
    const admitted = admittedToday.get(key) ?? 0
    const max = MAX_NEW_PER_DAY[row.level]
    if (admitted < max / 2 || (admitted < max && sum(want) >= MIN_OCCURRENCES)) {
      admittedToday.set(key, admitted + 1)
      dayCount(row.projectId, row.level, today).admitted++
      writes.set(sql.attributesKey(row.projectId, row.id), row)
      continue
    }
    const id = otherId(row.level)
    ids[index] = id
    writes.set(sql.attributesKey(row.projectId, id), { ...row, id, values: {} })
    for (const [day, count] of want.occurrences) dayCount(row.projectId, row.level, day).refused += count
  }
  if (writes.size > 0) await sql.writeAttributes(tx, today, [...writes.values()])
  if (days.size > 0)
    await sql.addToDays(
      tx,
      [...days.values()].map(({ row, admitted, refused }) => ({ ...row, admitted, refused })),
    )
  return ids
}

const sum = ({ occurrences }: Wanted): number => [...occurrences.values()].reduce((a, b) => a + b, 0)

function byOccurrences(wanted: readonly Wanted[]): number[] {
  const sums = wanted.map(sum)
  return [...wanted.keys()].sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0))
}
