import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { crashSettings } from '../app-health/crash-settings.ts'
import { notFound } from '../kernel/errors.ts'
import { readProject } from '../projects/projects.queries.ts'
import type { HealthQuery } from './health-source.queries.ts'

/**
 * A project of the actor's organisation, with what counts as a crash in it.
 * @throws AppError not_found
 */
export async function projectOf(
  app: App,
  actor: OrgActor,
  projectId: string,
): Promise<HealthQuery['projects'][number]> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  return { id: project.id, unhandledIsCrash: crashSettings(project.settings).unhandled_is_crash }
}
