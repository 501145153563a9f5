import type { Handlers } from '../../platform/context/handlers.ts'
import { eraseUser } from './erase-user.ts'
import type { privacyRoutes } from './privacy.api.ts'

export const privacyHandlers: Handlers<typeof privacyRoutes> = {
  eraseUserData: (app, actor, { params }) => eraseUser(app, actor, params.projectId, params.userId),
}
