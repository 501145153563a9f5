import { addJob } from '../../platform/jobs/task.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** The name of the job that builds an index. */
export const INDEX_JOB = 'index-symbols'

const MAX_ATTEMPTS = 5

/** Has the index of a file built; those of an organisation one after the other. */
export const addIndexJob = (on: Connection, orgId: string, fileId: string): Promise<void> =>
  addJob(
    on,
    INDEX_JOB,
    { file_id: fileId },
    { key: `index ${fileId}`, oneByOne: `symbols of ${orgId}`, maxAttempts: MAX_ATTEMPTS },
  )
