import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { notFound } from '../kernel/errors.ts'
import { readProject, readProjectKeys } from '../projects/projects.queries.ts'
import { viewProjectSettings, type ProjectSettingsView } from './view-project-settings.ts'

/** @throws AppError not_found */
export async function readProjectSettings(app: App, actor: OrgActor, projectId: string): Promise<ProjectSettingsView> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  return viewProjectSettings(app.config, project, await readProjectKeys(app.db, projectId))
}
