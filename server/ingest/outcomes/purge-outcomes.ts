import { type AgingRows, purgeTask } from '../../platform/jobs/purge.ts'
import { USAGE_ROWS } from '../limits/org-quota.queries.ts'
import { COUNT_TABLES } from './outcomes.queries.ts'

const kept = { days: 400 }

export const AGING_COUNTS: readonly AgingRows[] = [
  ...COUNT_TABLES.map((rows) => ({ rows, column: 'hour', kept })),
  { rows: USAGE_ROWS, column: 'day', kept },
]

/** Once a day, at a quiet hour. */
export const purgeOutcomesTask = purgeTask('purge-outcomes', '17 4 * * *', AGING_COUNTS)
