import { addJob } from '../../platform/jobs/task.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { oneByOne, REPOSITORY_JOB } from './job-names.ts'

/** Adds the job that reads the repository; one that waits stays, also where it waits for the code host. */
export async function wantRepository(on: Connection, projectId: string, runAt?: Date): Promise<void> {
  await addJob(
    on,
    REPOSITORY_JOB,
    { projectId },
    {
      ...oneByOne(projectId),
      key: `${REPOSITORY_JOB} ${projectId}`,
      ...(runAt === undefined ? {} : { runAt }),
    },
  )
}
