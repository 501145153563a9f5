import { publish } from '../../platform/storage/bus.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** Every process drops its cached project when the transaction commits. */
export const dropCachedProject = (tx: Tx, projectId: string): Promise<void> =>
  publish(tx, 'project', { project_id: projectId })
