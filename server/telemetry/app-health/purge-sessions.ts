import { purgeTask } from '../../platform/jobs/purge.ts'
import { AGING_HEALTH } from './purge.queries.ts'

/** Runs every hour: deleting a day's sessions in one run would keep autovacuum busy for long. */
export const purgeSessionsTask = purgeTask('purge-sessions', '23 * * * *', AGING_HEALTH)
