import type { Handlers } from '../../platform/context/handlers.ts'
import type { bulkRoutes } from './bulk.api.ts'
import { changeIssues, deleteIssues } from './start-operation.ts'
import { undoOperation } from './undo-operation.ts'
import { viewOperation } from './view-operation.ts'

export const bulkHandlers: Handlers<typeof bulkRoutes> = {
  updateIssues: (app, actor, { body }) => changeIssues(app, actor, body),
  deleteIssues: (app, actor, { body }) => deleteIssues(app, actor, body),
  readOperation: (app, actor, { params, query }) => viewOperation(app, actor, params.operationId, query),
  undoOperation: (app, actor, { params }) => undoOperation(app, actor, params.operationId),
}
