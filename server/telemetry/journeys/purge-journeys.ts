import { purgeTask } from '../../platform/jobs/purge.ts'
import { JOURNEY_ROWS } from './journeys.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** A dry run looks back seven days, each moment over its window of up to a day. */
export const purgeJourneysTask = purgeTask('purge-journeys', '34 * * * *', [
  { rows: JOURNEY_ROWS, column: 'minute', kept: { ms: 8 * DAY_MS } },
])
