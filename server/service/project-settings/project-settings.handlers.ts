import type { Handlers } from '../../platform/context/handlers.ts'
import { createProject } from './create-project.ts'
import type { projectSettingsRoutes } from './project-settings.api.ts'
import { updateProjectSettings, readProjectSettings } from './update-project-settings.ts'

export const projectSettingsHandlers: Handlers<typeof projectSettingsRoutes> = {
  createProject: (app, actor, { body }) => createProject(app, actor, body),
  readProjectSettings: (app, actor, { params }) => readProjectSettings(app, actor, params.projectId),
  updateProjectSettings: (app, actor, { params, body }) => updateProjectSettings(app, actor, params.projectId, body),
}
