import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { readOperation, type OperationRow } from './operations.queries.ts'
import type { Operation } from './project-deletion.api.ts'
import { PROJECT_PARTS } from './project-parts.ts'

/** @throws AppError not_found, also for operations of other organisations */
export async function viewOperation(app: App, actor: OrgActor, operationId: string): Promise<Operation> {
  const row = await readOperation(app.db, operationId)
  if (row === undefined || row.org_id !== actor.orgId) throw notFound('Operation')
  return shown(row)
}

export const shown = (row: OperationRow): Operation => ({
  id: row.id,
  kind: 'project.delete',
  state: row.state,
  target: { type: 'project', id: row.project_id, name: row.label },
  progress: {
    parts: PROJECT_PARTS.length,
    parts_done: row.state === 'done' ? PROJECT_PARTS.length : row.parts_done,
    rows_deleted: row.rows_deleted,
  },
  created_at: row.created_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
})
