import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { isProjectInOrg } from './projects.queries.ts'

/**
 * Checks, for reads below `/api/projects/:projectId`, that the project belongs to the actor's organisation.
 * @throws AppError not_found
 */
export async function requireProject(app: App, actor: OrgActor, projectId: string): Promise<void> {
  if (!(await isProjectInOrg(app.db, actor.orgId, projectId))) throw notFound('Project')
}
