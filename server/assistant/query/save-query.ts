import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { SavedQuery } from './query.api.ts'
import { countSavedQueries, insertSavedQuery } from './saved-queries.queries.ts'

const MAX_SAVED_QUERIES = 100

type NewQuery = { readonly name: string; readonly query?: string | undefined; readonly sql?: string | undefined }

/**
 * Keeps a question or a statement. It is checked when it runs, because what is permitted may change.
 * @throws AppError not_found, conflict (too many)
 */
export async function saveQuery(
  app: App,
  actor: OrgActor,
  projectId: string,
  { name, query, sql }: NewQuery,
): Promise<SavedQuery> {
  await requireProject(app, actor, projectId)
  const member = requireActingMember(actor)
  const now = app.clock.now()
  const id = newId()
  await app.tx(async (tx) => {
    if ((await countSavedQueries(tx, projectId)) >= MAX_SAVED_QUERIES)
      throw conflict(`The project has ${MAX_SAVED_QUERIES} saved queries, the maximum. Delete one first.`)
    await insertSavedQuery(tx, {
      id,
      project_id: projectId,
      name,
      question: query ?? null,
      statement: sql ?? null,
      created_by: member.userId,
      created_at: now,
    })
  })
  return {
    id,
    name,
    query: query ?? null,
    sql: sql ?? null,
    created_by: { id: member.userId, name: member.name },
    created_at: now.toISOString(),
  }
}
