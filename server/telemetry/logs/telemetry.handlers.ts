import type { Handlers } from '../../platform/context/handlers.ts'
import { listLogAttributes } from './list-log-attributes.ts'
import { listLogs, listLogsAround } from './list-logs.ts'
import { listTraceMetrics } from './list-trace-metrics.ts'
import { readLogVolume } from './read-log-volume.ts'
import { listTraceMetricNames, readTraceMetric } from './read-trace-metric.ts'
import type { telemetryRoutes } from './telemetry.api.ts'

export const telemetryHandlers: Handlers<typeof telemetryRoutes> = {
  listLogs: (app, actor, { params, query }) => listLogs(app, actor, { ...params, ...query }),
  readLogVolume: (app, actor, { params, query }) => readLogVolume(app, actor, { ...params, ...query }),
  listLogAttributes: (app, actor, { params, query }) => listLogAttributes(app, actor, { ...params, ...query }),
  listLogsAround: (app, actor, { params, query }) => listLogsAround(app, actor, { ...params, ...query }),
  listTraceMetrics: (app, actor, { params, query }) => listTraceMetrics(app, actor, { ...params, ...query }),
  listTraceMetricNames: (app, actor, { params, query }) => listTraceMetricNames(app, actor, { ...params, ...query }),
  readTraceMetric: (app, actor, { params, query }) => readTraceMetric(app, actor, { ...params, ...query }),
}
