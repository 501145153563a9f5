import { metricsRoutes } from './metrics/metrics.api.ts'
import { releaseHealthRoutes } from './release-health/release-health.api.ts'

/** The endpoints of this district. */
export const insightsContract = { ...releaseHealthRoutes, ...metricsRoutes }
