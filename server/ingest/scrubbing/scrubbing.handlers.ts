import type { Handlers } from '../../platform/context/handlers.ts'
import { previewScrubbing } from './preview-scrubbing.ts'
import type { scrubbingRoutes } from './scrubbing.api.ts'

export const scrubbingHandlers: Handlers<typeof scrubbingRoutes> = {
  previewScrubbing: (app, actor, { params, body }) => previewScrubbing(app, actor, params.projectId, body),
}
