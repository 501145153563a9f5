import type { Handlers } from '../../platform/context/handlers.ts'
import { createView } from './create-view.ts'
import { listViews } from './list-views.ts'
import { deleteView, updateView } from './update-view.ts'
import type { viewRoutes } from './views.api.ts'

export const viewHandlers: Handlers<typeof viewRoutes> = {
  listViews: (app, actor, { query }) => listViews(app, actor, query),
  createView: (app, actor, { body }) => createView(app, actor, body),
  updateView: (app, actor, { params, body }) => updateView(app, actor, { ...params, ...body }),
  deleteView: (app, actor, { params }) => deleteView(app, actor, params.viewId),
}
