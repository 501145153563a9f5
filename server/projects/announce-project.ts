import { announce } from '../auth/announce.ts'
import { liveNotification } from '../live/publish.ts'
import type { Tx } from '../storage/pool.ts'

/** Tells every process to forget what it knows of a project, and open dashboards to read it again. */
export async function announceProject(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await announce(tx, 'project', { project_id: projectId })
  await liveNotification(orgId, { kind: 'project', project_id: projectId }).execute(tx)
}
