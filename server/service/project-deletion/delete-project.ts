import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { addJob } from '../../platform/jobs/task.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { dropCachedProject } from '../../projects/registry/view-project.ts'
import { removeProject } from '../../projects/registry/project-rows.queries.ts'
import { lockProject } from '../../projects/registry/projects.queries.ts'
import { publish } from '../../platform/storage/bus.ts'
import { CONTINUE_DELETION } from './continue-deletion.ts'
import { insertOperation, readOperation, type OperationRow } from './operations.queries.ts'
import type { Operation } from './project-deletion.api.ts'
import { PROJECT_PARTS } from './project-parts.ts'

/**
 * Deletes a project: at once from every list, with its keys, and its data by a job. Its slug is free.
 * @param confirm the slug of the project, as the owner typed it
 * @throws AppError not_found, invalid
 */
export async function deleteProject(app: App, actor: OrgActor, projectId: string, confirm: string): Promise<Operation> {
  const now = app.clock.now()
  const operation = await app.tx(async (tx) => {
    const project = await lockProject(tx, actor.orgId, projectId)
    if (project === null) throw notFound('Project')
    if (confirm !== project.slug) throw invalid(`Type ${project.slug} into confirm to delete ${project.name}.`)
    const row = await insertOperation(tx, {
      id: newId(),
      org_id: actor.orgId,
      project_id: projectId,
      label: project.name,
      created_at: now,
    })
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'project.deleted', orgId: actor.orgId, projectId, data: { name: project.name } },
    ])
    for (const publicKey of await removeProject(tx, actor.orgId, projectId, now))
      await publish(tx, 'project_key', { public_key: publicKey })
    await dropCachedProject(tx, projectId)
    await addJob(tx, CONTINUE_DELETION, { operation_id: row.id }, { key: `${CONTINUE_DELETION} ${row.id}` })
    return row
  })
  app.log.info({ project_id: projectId, ...actorForLog(actor), operation_id: operation.id }, 'project.deleted')
  return shown(operation)
}

/** @throws AppError not_found, also for operations of other organisations */
export async function viewOperation(app: App, actor: OrgActor, operationId: string): Promise<Operation> {
  const row = await readOperation(app.db, operationId)
  if (row === undefined || row.org_id !== actor.orgId) throw notFound('Operation')
  return shown(row)
}

const shown = (row: OperationRow): Operation => ({
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
