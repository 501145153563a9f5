import type { Handlers } from '../platform/context/handlers.ts'
import type { telemetryContract } from './contract.api.ts'
import { performanceHandlers } from './performance/performance.handlers.ts'
import type { ReadAnrRates } from './performance/read-project-performance.ts'
import { sessionSummaryHandlers } from './app-health/session-summary.handlers.ts'
import { monitorHandlers } from './monitors/monitors.handlers.ts'
import { telemetryHandlers as logHandlers } from './logs/telemetry.handlers.ts'
import { traceHandlers } from './traces/traces.handlers.ts'

/** The handler of every endpoint of this district. @param readAnrRates which needs metrics, above this district */
export const telemetryHandlers = (readAnrRates: ReadAnrRates): Handlers<typeof telemetryContract> => ({
  ...sessionSummaryHandlers,
  ...performanceHandlers(readAnrRates),
  ...logHandlers,
  ...monitorHandlers,
  ...traceHandlers,
})
