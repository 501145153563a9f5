import type { Handlers } from '../../platform/context/handlers.ts'
import { readSessionSummary } from './read-session-summary.ts'
import type { sessionSummaryRoutes } from './session-summary.api.ts'

export const sessionSummaryHandlers: Handlers<typeof sessionSummaryRoutes> = {
  readSessionSummary: (app, actor, { query }) => readSessionSummary(app, actor, query.range, query.projectId),
}
