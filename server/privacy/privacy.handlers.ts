import type { Handlers } from '../context/handlers.ts'
import { eraseUser } from './erase-user.ts'
import { previewScrubbing } from './preview-scrubbing.ts'
import type { privacyRoutes } from './privacy.api.ts'

export const privacyHandlers: Handlers<typeof privacyRoutes> = {
  previewScrubbing: (app, actor, { params, body }) => previewScrubbing(app, actor, params.projectId, body),
  eraseUserData: (app, actor, { params }) => eraseUser(app, actor, params.projectId, params.userId),
}
