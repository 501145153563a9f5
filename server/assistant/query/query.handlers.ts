import type { Handlers } from '../../platform/context/handlers.ts'
import { deleteSavedQuery } from './delete-saved-query.ts'
import { listSavedQueries } from './list-saved-queries.ts'
import type { queryRoutes } from './query.api.ts'
import { runQuery } from './run-query.ts'
import { saveQuery } from './save-query.ts'
import { translateByModel } from './translate-by-model.ts'
import type { Translator } from './translation.ts'

/** Translators of questions: the first that has a statement is taken. */
const TRANSLATORS: readonly Translator[] = [translateByModel]

export const queryHandlers: Handlers<typeof queryRoutes> = {
  runQuery: (app, actor, { body }) => runQuery(app, actor, body, TRANSLATORS),
  listSavedQueries: (app, actor, { params }) => listSavedQueries(app, actor, params.projectId),
  saveQuery: (app, actor, { params, body }) => saveQuery(app, actor, params.projectId, body),
  deleteSavedQuery: (app, actor, { params }) => deleteSavedQuery(app, actor, params),
}
