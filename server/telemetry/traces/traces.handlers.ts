import type { Handlers } from '../../platform/context/handlers.ts'
import { readTrace } from './read-trace.ts'
import type { traceRoutes } from './traces.api.ts'

export const traceHandlers: Handlers<typeof traceRoutes> = {
  readTrace: (app, actor, { params }) => readTrace(app, actor, params.projectId, params.traceId),
}
