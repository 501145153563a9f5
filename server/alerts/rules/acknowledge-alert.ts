import { memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Alert } from './alerts.api.ts'
import { lockAlert, markAcknowledged } from './fired.queries.ts'
import { sendMessages } from './send-messages.ts'
import { viewAlert } from './view-alert.ts'

/**
 * Acknowledges an alert: it does not escalate, and pages of it stop. One that is not firing stays as it is.
 * @throws AppError not_found
 */
export async function acknowledgeAlert(app: App, actor: OrgActor, alertId: string): Promise<Alert> {
  await app.tx(async (tx) => {
    const alert = await lockAlert(tx, actor, alertId)
    if (alert === undefined) throw notFound('Alert')
    if (alert.state !== 'firing') return
    const context = factContext(app, actor)
    const userId = memberBehind(actor)?.userId ?? null
    await markAcknowledged(tx, alertId, userId, context.at)
    if (alert.summary_minute === null)
      await sendMessages(tx, app, { alertIds: [alertId], purpose: 'acknowledged', at: context.at, userId })
    await recordFacts(tx, context, [
      {
        kind: 'alert.acknowledged',
        orgId: alert.org_id,
        projectId: alert.project_id,
        targetId: alertId,
        label: alert.title,
        data: {},
      },
    ])
  })
  return viewAlert(app, actor, alertId)
}
