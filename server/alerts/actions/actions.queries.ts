import type { ActionType, AlertState } from '#shared/alert-rules.ts'
import type { DeliveryState } from '../../platform/outbox/delivery.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** SQL that sending alerts reads with. */

export type SendingRow = {
  readonly id: string
  readonly org_id: string
  readonly type: ActionType
  readonly config_sealed: string | null
}

export async function selectSending(db: Connection, actionIds: readonly string[]): Promise<SendingRow[]> {
  const { rows } = await db.query<SendingRow>({
    name: 'alert-actions-sending',
    text: 'select id, org_id, type, config_sealed from alert_actions where id = any ($1::uuid[])',
    values: [actionIds],
  })
  return rows
}

/** An alert as it stands when something is sent about it. */
export type NowRow = {
  readonly alert_id: string
  readonly action_id: string
  readonly subject: string
  readonly state: AlertState
  /** For a summary: one of its alerts is. */
  readonly is_firing: boolean
  readonly acknowledged_by: string | null
  readonly acknowledger: string | null
  readonly acknowledged_at: Date | null
  readonly resolved_at: Date | null
  readonly resolved_reason: string | null
  /** A newer alert about the same is open, and this action has sent it. */
  readonly is_replaced: boolean
}

/** @param sendings alert and action, one for each */
export async function selectNow(
  db: Connection,
  sendings: readonly { readonly alertId: string; readonly actionId: string }[],
): Promise<NowRow[]> {
  const { rows } = await db.query<NowRow>({
    name: 'alert-actions-now',
    text: `select k.alert_id, k.action_id, a.subject, a.state, a.acknowledged_by, u.name as acknowledger, a.acknowledged_at,
        a.resolved_at, a.resolved_reason,
        a.state = 'firing' or exists (select from fired_alerts o
          where o.rule_id = a.rule_id and o.summary_minute = a.summary_minute and o.state = 'firing') as is_firing,
        exists (select from fired_alerts n
          join alert_deliveries s on s.alert_id = n.id
          join outbox_deliveries d on d.id = s.delivery_id
          where n.rule_id = a.rule_id and n.subject = a.subject and n.state in ('firing', 'acknowledged')
            and n.fired_at > a.fired_at and s.action_id = k.action_id and s.purpose in ('fired', 'escalated')
            and d.delivered_at is not null) as is_replaced
      from unnest($1::uuid[], $2::uuid[]) as k (alert_id, action_id)
      join fired_alerts a on a.id = k.alert_id
      left join users u on u.id = a.acknowledged_by`,
    values: [sendings.map(({ alertId }) => alertId), sendings.map(({ actionId }) => actionId)],
  })
  return rows
}

/** A delivery after its newest attempt. */
export type SentRow = {
  readonly id: string
  readonly state: DeliveryState
  readonly reason: string | null
  readonly attempts: number
  readonly status: number | null
  readonly errorCode: string | null
  readonly errorText: string | null
  readonly durationMs: number | null
}

export async function selectSent(db: Connection, deliveryIds: readonly string[]): Promise<SentRow[]> {
  const { rows } = await db.query<SentRow>({
    name: 'alert-actions-sent',
    text: `select d.id, d.state, d.reason, d.attempts_made as attempts, d.last_status as status,
        d.last_error_code as "errorCode", a.error_text as "errorText", d.last_duration_ms as "durationMs"
      from outbox_deliveries d
      left join outbox_attempts a on a.delivery_id = d.id and a.n = d.attempts_made
      where d.id = any ($1::text[])`,
    values: [deliveryIds],
  })
  return rows
}

/** The project of a test, as its message names it. */
export const selectProjectOfTest = (db: Connection, orgId: string, projectId: string) =>
  db
    .selectFrom('projects')
    .select(['id', 'name', 'slug', 'platform'])
    .where('org_id', '=', orgId)
    .where('id', '=', projectId)
    .executeTakeFirst()
