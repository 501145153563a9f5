import type { Handlers } from '../../platform/context/handlers.ts'
import { listLogs } from './list-logs.ts'
import { listTraceMetrics } from './list-trace-metrics.ts'
import type { telemetryRoutes } from './telemetry.api.ts'

export const telemetryHandlers: Handlers<typeof telemetryRoutes> = {
  listLogs: (app, actor, { params, query }) => listLogs(app, actor, { ...params, ...query }),
  listTraceMetrics: (app, actor, { params, query }) => listTraceMetrics(app, actor, { ...params, ...query }),
}
