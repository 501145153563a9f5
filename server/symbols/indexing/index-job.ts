import { addJob } from '../../platform/jobs/task.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** The name of the job that builds indexes. */
export const INDEX_JOB = 'index-symbols'

/** Has the indexes of an organisation's waiting files built. Organisations take turns, in the order in which they asked. */
export const addIndexJob = (on: Connection, orgId: string): Promise<void> =>
  addJob(
    on,
    INDEX_JOB,
    { org_id: orgId },
    { key: `symbols of ${orgId}`, keepsTurn: true, oneByOne: `symbols of ${orgId}` },
  )
