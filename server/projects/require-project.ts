import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { notFound } from '../kernel/errors.ts'
import { isProjectOf } from './projects.queries.ts'

/**
 * For reads below `/api/projects/:projectId`: the project is of the actor's organisation.
 * @throws AppError not_found
 */
export async function requireProject(app: App, actor: OrgActor, projectId: string): Promise<void> {
  if (!(await isProjectOf(app.db, actor.orgId, projectId))) throw notFound('Project')
}
