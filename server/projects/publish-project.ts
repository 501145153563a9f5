import { publish } from '../storage/bus.ts'
import { publishLive } from '../live/publish.ts'
import type { Tx } from '../storage/database.ts'

/** Every process drops its cached project, and open dashboards read it again, after the commit. */
export async function publishProject(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await publish(tx, 'project', { project_id: projectId })
  await publishLive(tx, orgId, { kind: 'project', project_id: projectId })
}
