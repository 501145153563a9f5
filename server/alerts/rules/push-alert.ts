import { notifyMembers } from '../notifications/notify-members.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { AlertMessage } from './alert-message.ts'
import type { AlertForMessage } from './fired.queries.ts'

export type PushedAlert = { readonly target: string; readonly deliveryId: string }

/** Pushes an alert to the devices of members who asked for it. */
export async function pushAlert(
  tx: Tx,
  { org_id: orgId }: AlertForMessage,
  { type, data: { alert, project, issue, escalated } }: AlertMessage,
  at: Date,
): Promise<PushedAlert[]> {
  const sent = await notifyMembers(tx, {
    orgId,
    type,
    severity: alert.severity,
    title: `${escalated === true ? 'Not acknowledged: ' : ''}${alert.title}`,
    body: `${project.name}: ${alert.explanation}`,
    data: {
      alert_id: alert.id,
      ...(issue === null ? {} : { issue_id: issue.id }),
      project_id: project.id,
      url: alert.url,
    },
    at,
  })
  return sent.map(({ label, deliveryId }) => ({ target: label, deliveryId }))
}
