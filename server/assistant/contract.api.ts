import { askRoutes } from './ask/ask.api.ts'
import { modelRoutes } from './models/models.api.ts'

/** The endpoints of this district. */
export const assistantContract = {
  ...modelRoutes,
  ...askRoutes,
}
