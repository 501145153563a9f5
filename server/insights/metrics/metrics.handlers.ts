import type { Handlers } from '../../platform/context/handlers.ts'
import type { metricsRoutes } from './metrics.api.ts'
import { readBreakdown } from './read-breakdown.ts'
import { readMetrics } from './read-metrics.ts'
import { readOverview, type ReadQuota } from './read-overview.ts'
import { readStoreGuard } from './read-store-guard.ts'

export const metricsHandlers = (readQuota: ReadQuota): Handlers<typeof metricsRoutes> => ({
  readMetrics: (app, actor, { query }) => readMetrics(app, actor, query),
  readBreakdown: (app, actor, { query }) => readBreakdown(app, actor, query),
  readOverview: (app, actor, { query }) => readOverview(app, actor, query, readQuota),
  readStoreGuard: (app, actor, { query }) => readStoreGuard(app, actor, query.projectId),
})
