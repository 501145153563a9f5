import type { Handlers } from '../../platform/context/handlers.ts'
import type { feedbackRoutes } from './feedback.api.ts'
import { addFeedbackNote, replyToFeedback, updateFeedback } from './change-feedback.ts'
import { listFeedback } from './list-feedback.ts'
import { listInboxMessages, readFeedback } from './read-inbox.ts'

export const feedbackHandlers: Handlers<typeof feedbackRoutes> = {
  listFeedback: (app, actor, { params, query }) => listFeedback(app, actor, { ...params, ...query }),
  listInboxMessages: (app, actor, { query }) => listInboxMessages(app, actor, query),
  readFeedback: (app, actor, { params }) => readFeedback(app, actor, params.feedbackId),
  updateFeedback: (app, actor, { params, body }) => updateFeedback(app, actor, params.feedbackId, body),
  addFeedbackNote: (app, actor, { params, body }) => addFeedbackNote(app, actor, params.feedbackId, body.body),
  replyToFeedback: (app, actor, { params, body }) => replyToFeedback(app, actor, params.feedbackId, body),
}
