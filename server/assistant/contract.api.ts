import { analysisRoutes } from './analysis/analysis.api.ts'
import { askRoutes } from './ask/ask.api.ts'
import { modelRoutes } from './models/models.api.ts'
import { queryRoutes } from './query/query.api.ts'

/** Every endpoint of this district. */
export const assistantContract = {
  ...modelRoutes,
  ...queryRoutes,
  ...askRoutes,
  ...analysisRoutes,
}
