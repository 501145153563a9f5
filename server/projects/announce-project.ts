import { publish } from '../storage/bus.ts'
import { publishLive } from '../live/publish.ts'
import type { Tx } from '../storage/database.ts'

/** Tells every process to forget what it knows of a project, and open dashboards to read it again. */
export async function announceProject(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await publish(tx, 'project', { project_id: projectId })
  await publishLive(tx, orgId, { kind: 'project', project_id: projectId })
}
