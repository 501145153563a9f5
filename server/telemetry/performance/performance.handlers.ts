import type { Handlers } from '../../platform/context/handlers.ts'
import { listScreens } from './list-screens.ts'
import { listTransactions } from './list-transactions.ts'
import type { performanceRoutes } from './performance.api.ts'
import { readProjectPerformance, type ReadAnrRates } from './read-project-performance.ts'
import { readScreen } from './read-screen.ts'

export const performanceHandlers = (readAnrRates: ReadAnrRates): Handlers<typeof performanceRoutes> => ({
  readPerformance: (app, actor, { query }) => readProjectPerformance(app, actor, query, readAnrRates),
  listScreens: (app, actor, { query }) => listScreens(app, actor, query),
  readScreen: (app, actor, { query }) => readScreen(app, actor, query),
  listTransactions: (app, actor, { query }) => listTransactions(app, actor, query),
})
