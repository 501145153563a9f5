import type { Handlers } from '../../platform/context/handlers.ts'
import { deleteSavedQuery } from './delete-saved-query.ts'
import { listSavedQueries } from './list-saved-queries.ts'
import type { queryRoutes } from './query.api.ts'
import { runQuery } from './run-query.ts'
import { saveQuery } from './save-query.ts'

export const queryHandlers: Handlers<typeof queryRoutes> = {
  runQuery: (app, actor, { body }) => runQuery(app, actor, body),
  listSavedQueries: (app, actor, { params }) => listSavedQueries(app, actor, params.projectId),
  saveQuery: (app, actor, { params, body }) => saveQuery(app, actor, params.projectId, body),
  deleteSavedQuery: (app, actor, { params }) => deleteSavedQuery(app, actor, params),
}
