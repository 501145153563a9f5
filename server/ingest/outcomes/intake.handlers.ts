import type { Handlers } from '../../platform/context/handlers.ts'
import type { intakeRoutes } from './intake.api.ts'
import { readIntake, readQuota, updateQuota } from './read-intake.ts'

export const intakeHandlers: Handlers<typeof intakeRoutes> = {
  readIntake: (app, actor, { params, query }) => readIntake(app, actor, params.projectId, query.range),
  readQuota: (app, actor) => readQuota(app, actor),
  updateQuota: (app, actor, { body }) => updateQuota(app, actor, body.events_per_day),
}
