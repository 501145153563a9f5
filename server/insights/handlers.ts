import type { Handlers } from '../platform/context/handlers.ts'
import type { insightsContract } from './contract.api.ts'
import { metricsHandlers } from './metrics/metrics.handlers.ts'
import type { ReadQuota } from './metrics/read-overview.ts'
import { releaseHealthHandlers } from './release-health/release-health.handlers.ts'

/** The handler of every endpoint of this district. @param readQuota which the caller knows */
export const insightsHandlers = (readQuota: ReadQuota): Handlers<typeof insightsContract> => ({
  ...releaseHealthHandlers,
  ...metricsHandlers(readQuota),
})
