import type { ActionType } from '#shared/alert-rules.ts'
import { newPrefixedId } from '../../platform/kernel/ids.ts'
import type { Message, NewDelivery } from '../../platform/outbox/delivery.ts'
import { enqueue } from '../../platform/outbox/enqueue.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { Masked, describeActionTarget } from './action-config.ts'
import type { AlertMessage, AlertMessageType } from './alert-message.ts'
import { buildMessage } from './build-message.ts'
import { type AlertForMessage, insertSent, selectForMessages } from './fired.queries.ts'
import type { AlertParts } from './view-rule.ts'
import { type ActionRow, selectActions } from './rules.queries.ts'
import { mailAlert } from './mail-alert.ts'
import { notifyMembers } from '../notifications/notify-members.ts'

/** Why something is sent. */
type Purpose = 'fired' | 'acknowledged' | 'resolved' | 'escalated' | 'summary'

const TYPES: Readonly<Record<Purpose, AlertMessageType>> = {
  fired: 'alert.fired',
  acknowledged: 'alert.acknowledged',
  resolved: 'alert.resolved',
  escalated: 'alert.fired',
  summary: 'alert.fired',
}

/** Mails say what needs attention; what happened to it since is in the dashboard. */
const MAILED: ReadonlySet<Purpose> = new Set(['fired', 'escalated', 'summary'])

/** To the phones of members who asked for it. */
const PUSHED: ReadonlySet<Purpose> = new Set(['fired', 'escalated'])

type Sending = {
  readonly alertIds: readonly string[]
  readonly purpose: Purpose
  readonly at: Date
  /** Who acted. */
  readonly userId?: string | null
  readonly summary?: NonNullable<AlertMessage['data']['summary']>
}

/**
 * Writes one message for each alert, and a delivery for each action of its rule, in the transaction of what happened; and
 * pushes to members who asked for them.
 * Actions of an escalation send when it escalates, and what follows.
 */
export async function sendMessages(tx: Tx, parts: AlertParts, sending: Sending): Promise<void> {
  const { alertIds, purpose, at } = sending
  if (alertIds.length === 0) return
  const rows = await selectForMessages(tx, alertIds)
  const actions = Map.groupBy(
    await selectActions(tx, [...new Set(rows.map(({ rule_id }) => rule_id))]),
    ({ rule_id }) => rule_id,
  )
  const messages: Message[] = []
  const deliveries: (NewDelivery & { readonly alertId: string; readonly action: ActionRow })[] = []
  const mails: { readonly row: AlertForMessage; readonly message: AlertMessage; readonly action: ActionRow }[] = []
  const pushes: { readonly row: AlertForMessage; readonly message: AlertMessage }[] = []
  for (const row of rows) {
    const taking = (actions.get(row.rule_id) ?? []).filter((action) => takes(action, row, purpose))
    if (taking.length === 0 && !PUSHED.has(purpose)) continue
    const message = buildMessage(
      row,
      {
        id: newPrefixedId('evt'),
        type: TYPES[purpose],
        userId: sending.userId ?? null,
        at,
        isEscalated: purpose === 'escalated',
        ...(sending.summary === undefined ? {} : { summary: sending.summary }),
      },
      parts.config.publicUrl,
    )
    const lanes = taking.filter(({ type }) => type !== 'email')
    if (lanes.length > 0)
      messages.push({
        id: message.id,
        orgId: row.org_id,
        type: message.type,
        userId: null,
        body: Buffer.from(JSON.stringify(message)),
      })
    if (PUSHED.has(purpose)) pushes.push({ row, message })
    for (const action of lanes) deliveries.push({ messageId: message.id, laneId: action.id, alertId: row.id, action })
    for (const action of taking) if (action.type === 'email') mails.push({ row, message, action })
  }
  const ids = await enqueue(tx, messages, deliveries)
  await insertSent(
    tx,
    deliveries.map(({ alertId, action }, index) => ({
      alertId,
      actionId: action.id,
      actionType: action.type,
      target: describeActionTarget(action.type as ActionType, Masked.parse(action.masked), action.recipients),
      purpose,
      deliveryId: ids[index] ?? null,
      skipped: null,
    })),
    at,
  )
  for (const { row, message } of pushes)
    await insertSent(
      tx,
      (await pushAlert(tx, row, message, at)).map((sent) => ({
        ...sent,
        alertId: row.id,
        actionId: null,
        actionType: 'push',
        purpose,
        skipped: null,
      })),
      at,
    )
  for (const { row, message, action } of mails)
    await insertSent(
      tx,
      (await mailAlert(tx, parts, row, message, action.recipients)).map((sent) => ({
        ...sent,
        alertId: row.id,
        actionId: action.id,
        actionType: 'email',
        purpose,
      })),
      at,
    )
}

function takes(action: ActionRow, { escalated_at: escalatedAt }: AlertForMessage, purpose: Purpose): boolean {
  if (action.type === 'email' && !MAILED.has(purpose)) return false
  if (action.is_escalation) return purpose === 'escalated' || (escalatedAt !== null && !MAILED.has(purpose))
  return purpose !== 'escalated'
}

type PushedAlert = { readonly target: string; readonly deliveryId: string }

/** Pushes an alert to the devices of members who asked for it. */
async function pushAlert(
  tx: Tx,
  { org_id: orgId }: AlertForMessage,
  { type, data: { alert, project, issue, escalated } }: AlertMessage,
  at: Date,
): Promise<PushedAlert[]> {
  const sent = await notifyMembers(tx, {
    orgId,
    projectId: project.id,
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
