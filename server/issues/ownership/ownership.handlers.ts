import type { Handlers } from '../../platform/context/handlers.ts'
import type { ownershipRoutes } from './ownership.api.ts'
import { previewOwnership } from './preview-ownership.ts'

export const ownershipHandlers: Handlers<typeof ownershipRoutes> = {
  previewOwnership: (app, actor, { params, body }) =>
    previewOwnership(app, actor, params.projectId, body.ownership_rules),
}
