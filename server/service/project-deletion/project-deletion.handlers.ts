import type { Handlers } from '../../platform/context/handlers.ts'
import { deleteProject, viewOperation } from './delete-project.ts'
import type { projectDeletionRoutes } from './project-deletion.api.ts'

export const projectDeletionHandlers: Handlers<typeof projectDeletionRoutes> = {
  deleteProject: (app, actor, { params, body }) => deleteProject(app, actor, params.projectId, body.confirm),
  followOperation: (app, actor, { params }) => viewOperation(app, actor, params.operationId),
}
