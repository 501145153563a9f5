import type { Handlers } from '../context/handlers.ts'
import { createProject } from './create-project.ts'
import { listProjects } from './list-projects.ts'
import type { projectRoutes } from './projects.api.ts'
import { readOnboarding } from './read-onboarding.ts'
import { readProjectSettings } from './read-project-settings.ts'
import { rotateDsn } from './rotate-dsn.ts'
import { updateProjectSettings } from './update-project-settings.ts'

const DEFAULT_GRACE_SECONDS = 300

export const projectHandlers: Handlers<typeof projectRoutes> = {
  listProjects: (app, actor, { query }) => listProjects(app, actor, query),
  createProject: (app, actor, { body }) => createProject(app, actor, body),
  readProjectSettings: (app, actor, { params }) => readProjectSettings(app, actor, params.projectId),
  updateProjectSettings: (app, actor, { params, body }) => updateProjectSettings(app, actor, params.projectId, body),
  rotateDsn: (app, actor, { params, body }) =>
    rotateDsn(app, actor, params.projectId, body?.grace_seconds ?? DEFAULT_GRACE_SECONDS),
  readOnboarding: (app, actor) => readOnboarding(app, actor),
}
