import { performanceRoutes } from './performance/performance.api.ts'
import { sessionSummaryRoutes } from './app-health/session-summary.api.ts'
import { monitorRoutes } from './monitors/monitors.api.ts'
import { telemetryRoutes } from './logs/telemetry.api.ts'
import { traceRoutes } from './traces/traces.api.ts'
import { transactionRoutes } from './traces/transaction.api.ts'

/** The endpoints of this district. */
export const telemetryContract = {
  ...sessionSummaryRoutes,
  ...performanceRoutes,
  ...telemetryRoutes,
  ...monitorRoutes,
  ...traceRoutes,
  ...transactionRoutes,
}
