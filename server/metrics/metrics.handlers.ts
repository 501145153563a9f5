import type { Handlers } from '../context/handlers.ts'
import type { metricsRoutes } from './metrics.api.ts'
import { readMetrics } from './read-metrics.ts'

export const metricsHandlers: Handlers<typeof metricsRoutes> = {
  readMetrics: (app, actor, { query }) => readMetrics(app, actor, query),
}
