import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { SavedQuery } from './query.api.ts'
import { selectSavedQueries } from './saved-queries.queries.ts'

/** Returns the saved queries of a project, oldest first. @throws AppError not_found */
export async function listSavedQueries(app: App, actor: OrgActor, projectId: string): Promise<{ items: SavedQuery[] }> {
  await requireProject(app, actor, projectId)
  const rows = await selectSavedQueries(app.db, actor.orgId, projectId)
  const items = rows.map((row) => ({
    id: row.id,
    name: row.name,
    query: row.question,
    sql: row.statement,
    created_by: row.creator_id === null || row.creator === null ? null : { id: row.creator_id, name: row.creator },
    created_at: row.created_at.toISOString(),
  }))
  return { items }
}
