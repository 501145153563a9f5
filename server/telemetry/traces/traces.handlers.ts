import type { Handlers } from '../../platform/context/handlers.ts'
import { listTraces, readTraceOverview } from './list-traces.ts'
import { readProjectTrace, readTrace } from './read-trace.ts'
import { listSpanOperations, readTransaction } from './read-transaction.ts'
import type { traceRoutes } from './traces.api.ts'
import type { transactionRoutes } from './transaction.api.ts'

export const traceHandlers: Handlers<typeof traceRoutes & typeof transactionRoutes> = {
  listTraces: (app, actor, { query }) => listTraces(app, actor, query),
  readTraceOverview: (app, actor, { query }) => readTraceOverview(app, actor, query),
  readTrace: (app, actor, { params }) => readTrace(app, actor, params.traceId),
  readProjectTrace: (app, actor, { params }) => readProjectTrace(app, actor, params.projectId, params.traceId),
  readTransaction: (app, actor, { query }) => readTransaction(app, actor, query),
  listSpanOperations: (app, actor, { query }) => listSpanOperations(app, actor, query),
}
