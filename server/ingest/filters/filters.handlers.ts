import type { Handlers } from '../../platform/context/handlers.ts'
import type { filterRoutes } from './filters.api.ts'
import { previewFilters } from './preview-filters.ts'

export const filterHandlers: Handlers<typeof filterRoutes> = {
  previewFilters: (app, actor, { params, body }) => previewFilters(app, actor, params.projectId, body.inbound_filters),
}
