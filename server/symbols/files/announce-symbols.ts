import { addJob } from '../../platform/jobs/task.ts'
import { publishLive } from '../../platform/live/publish.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** The topic of the bus about projects whose files of symbols changed. */
export const SYMBOLS_TOPIC = 'symbols'

/**
 * Has every process forget what it knows about the files of these projects, and open dashboards read their events again, when
 * the transaction commits.
 */
export async function announceSymbols(tx: Tx, orgId: string, projectIds: readonly string[]): Promise<void> {
  if (projectIds.length === 0) return
  await publishLive(
    tx,
    projectIds.map((id) => ({ orgId, message: { kind: 'symbols', project_id: id } })),
  )
  await publish(tx, SYMBOLS_TOPIC, ...projectIds.map((id) => ({ project_id: id })))
}

/** The job that renews the texts of a project's issues; it is defined where issues are known. */
export const RENEW_TEXTS_JOB = 'renew-issue-texts'

/** A build uploads many files, one after the other: the job begins when none was indexed for this time. */
const QUIET_MS = 3_000

/** Has titles, culprits and search terms of issues renewed after files were indexed. */
export async function renewTextsSoon(on: Connection, projectIds: readonly string[]): Promise<void> {
  const runAt = new Date(Date.now() + QUIET_MS)
  for (const id of projectIds)
    await addJob(on, RENEW_TEXTS_JOB, { project_id: id }, { key: `texts of ${id}`, oneByOne: `texts of ${id}`, runAt })
}
