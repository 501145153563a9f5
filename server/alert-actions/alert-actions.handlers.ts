import type { alertTestRoutes } from '../alerts/alerts.api.ts'
import { LIMITS, takeAttempt } from '../auth/attempts.ts'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import type { Handlers } from '../context/handlers.ts'
import { testAction } from './test-action.ts'
import { testRule } from './test-rule.ts'

export const alertTestHandlers: Handlers<typeof alertTestRoutes> = {
  testAlertRule: async (app, actor, { params, body }) => {
    await countTest(app, actor)
    return testRule(app, actor, { ...params, actionId: body?.action_id })
  },
  testAlertAction: async (app, actor, { body }) => {
    await countTest(app, actor)
    return testAction(app, actor, body)
  },
}

/** @throws AppError rate_limited */
async function countTest(app: App, { orgId, origin }: OrgActor): Promise<void> {
  const ip = origin.kind === 'request' ? origin.ip : ''
  const attempt = await takeAttempt(app, LIMITS.alertTest, orgId, ip)
  if (!attempt.allowed) throw attempt.refusal
}
