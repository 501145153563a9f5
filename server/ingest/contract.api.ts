import { filterRoutes } from './filters/filters.api.ts'
import { intakeRoutes } from './outcomes/intake.api.ts'
import { scrubbingRoutes } from './scrubbing/scrubbing.api.ts'

/** The endpoints of this district. */
export const ingestContract = {
  ...filterRoutes,
  ...scrubbingRoutes,
  ...intakeRoutes,
}
