import { type AgingRows, purgeTask } from '../../platform/jobs/purge.ts'
import { MEMORY_ROWS, PRECURSOR_ROWS } from './precursors.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** A dry run looks back seven days, each moment over its window of up to a day. */
export const PRECURSOR_RETENTION_DAYS = 8

export const AGING_PRECURSORS: readonly AgingRows[] = [
  { rows: MEMORY_ROWS, column: 'seen_at', kept: { ms: DAY_MS } },
  { rows: PRECURSOR_ROWS, column: 'minute', kept: { ms: PRECURSOR_RETENTION_DAYS * DAY_MS } },
]

export const purgePrecursorsTask = purgeTask('purge-precursors', '37 * * * *', AGING_PRECURSORS)
