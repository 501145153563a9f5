import type { alertTestRoutes } from '../rules/alerts.api.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { testAction } from './test-action.ts'
import { testRule } from './test-rule.ts'

export const alertTestHandlers: Handlers<typeof alertTestRoutes> = {
  testAlertRule: (app, actor, { params, body }) => testRule(app, actor, { ...params, actionId: body?.action_id }),
  testAlertAction: (app, actor, { body }) => testAction(app, actor, body),
}
