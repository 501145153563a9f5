import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { readProject, readProjectKeys } from '../../projects/registry/projects.queries.ts'
import { viewProjectSettings, type ProjectSettingsView } from './view-project-settings.ts'

/** @throws AppError not_found */
export async function readProjectSettings(app: App, actor: OrgActor, projectId: string): Promise<ProjectSettingsView> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  return viewProjectSettings(app.config, project, await readProjectKeys(app.db, projectId))
}
