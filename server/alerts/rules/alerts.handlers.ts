import type { Handlers } from '../../platform/context/handlers.ts'
import { acknowledgeAlert } from './acknowledge-alert.ts'
import type { alertRoutes } from './alerts.api.ts'
import { createRule } from './create-rule.ts'
import { deleteRule } from './delete-rule.ts'
import { listFiredAlerts, listRecentAlerts } from './list-alerts.ts'
import { listRules } from './list-rules.ts'
import { resolveAlert } from './resolve-alert.ts'
import { updateRule } from './update-rule.ts'
import { viewAlert } from './view-alert.ts'
import { viewRule } from './view-rule.ts'

export const alertHandlers: Handlers<typeof alertRoutes> = {
  listAlertRules: (app, actor, { query }) => listRules(app, actor, query),
  createAlertRule: (app, actor, { body }) => createRule(app, actor, body),
  readAlertRule: (app, actor, { params }) => viewRule(app.db, actor, params.ruleId),
  updateAlertRule: (app, actor, { params, body }) => updateRule(app, actor, { ...params, ...body }),
  deleteAlertRule: (app, actor, { params }) => deleteRule(app, actor, params.ruleId),
  listRecentAlerts: (app, actor, { query }) => listRecentAlerts(app, actor, query.limit),
  listFiredAlerts: (app, actor, { query }) => listFiredAlerts(app, actor, query),
  readFiredAlert: (app, actor, { params }) => viewAlert(app, actor, params.alertId),
  acknowledgeAlert: (app, actor, { params }) => acknowledgeAlert(app, actor, params.alertId),
  resolveAlert: (app, actor, { params }) => resolveAlert(app, actor, params.alertId),
}
