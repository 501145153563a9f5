import { actorLabel, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Alert } from './alerts.api.ts'
import { endAlerts } from './end-alerts.ts'
import { lockAlert } from './fired.queries.ts'
import { viewAlert } from './view-alert.ts'

/** Resolves an alert. One that has ended stays as it is. @throws AppError not_found */
export async function resolveAlert(app: App, actor: OrgActor, alertId: string): Promise<Alert> {
  await app.tx(async (tx) => {
    const alert = await lockAlert(tx, actor, alertId)
    if (alert === undefined) throw notFound('Alert')
    await endAlerts(tx, app, factContext(app, actor), [alert], {
      state: 'resolved',
      reason: `Resolved by ${actorLabel(actor)}.`,
      byMember: true,
    })
  })
  return viewAlert(app, actor, alertId)
}
