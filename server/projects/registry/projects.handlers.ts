import type { Handlers } from '../../platform/context/handlers.ts'
import { listProjects } from './view-project.ts'
import type { projectRoutes } from './projects.api.ts'
import { readOnboarding } from './read-onboarding.ts'
import { createProjectKey } from './create-project-key.ts'
import { removeProjectKey, updateProjectKey } from './change-project-key.ts'
import { rotateDsn } from './rotate-dsn.ts'

const DEFAULT_GRACE_SECONDS = 300

export const projectHandlers: Handlers<typeof projectRoutes> = {
  listProjects: (app, actor, { query }) => listProjects(app, actor, query),
  rotateDsn: (app, actor, { params, body }) =>
    rotateDsn(app, actor, params.projectId, body?.grace_seconds ?? DEFAULT_GRACE_SECONDS, body?.key_id),
  createProjectKey: (app, actor, { params, body }) => createProjectKey(app, actor, params.projectId, body),
  updateProjectKey: (app, actor, { params, body }) => updateProjectKey(app, actor, params, body),
  removeProjectKey: (app, actor, { params }) => removeProjectKey(app, actor, params),
  readOnboarding: (app, actor) => readOnboarding(app, actor),
}
