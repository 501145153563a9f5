import type { Handlers } from '../../platform/context/handlers.ts'
import type { intakeRoutes } from './intake.api.ts'
import { changeQuota } from '../../identity/team/change-quota.ts'
import { readIntake, readQuota } from './read-intake.ts'

export const intakeHandlers: Handlers<typeof intakeRoutes> = {
  readIntake: (app, actor, { params, query }) => readIntake(app, actor, params.projectId, query.range),
  readQuota: (app, actor) => readQuota(app, actor),
  async updateQuota(app, actor, { body }) {
    await changeQuota(app, actor, body.events_per_day)
    return readQuota(app, actor)
  },
}
