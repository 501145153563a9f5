import type { Handlers } from '../../platform/context/handlers.ts'
import type { feedbackRoutes } from './feedback.api.ts'
import { listFeedback } from './list-feedback.ts'

export const feedbackHandlers: Handlers<typeof feedbackRoutes> = {
  listFeedback: (app, actor, { params, query }) => listFeedback(app, actor, { ...params, ...query }),
}
