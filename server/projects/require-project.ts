import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { notFound } from '../kernel/errors.ts'

/**
 * For reads below `/api/projects/:projectId`: the project is of the actor's organisation.
 * @throws AppError not_found
 */
export async function requireProject(app: App, actor: OrgActor, projectId: string): Promise<void> {
  const project = await app.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('org_id', '=', actor.orgId)
    .executeTakeFirst()
  if (project === undefined) throw notFound('Project')
}
