import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { shortId } from '#shared/issue-values.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { Alert, AlertDelivery } from './alerts.api.ts'
import { type AlertRow, selectAlert, selectSent, type SentRow } from './fired.queries.ts'

/** @throws AppError not_found */
export async function viewAlert(app: App, actor: OrgActor, alertId: string): Promise<Alert> {
  const row = await selectAlert(app.db, actor, alertId)
  const [alert] = row === undefined ? [] : await viewAlerts(app.db, [row])
  if (alert === undefined) throw notFound('Alert')
  return alert
}

/** Alerts with their deliveries, in the given order. */
export async function viewAlerts(db: Connection, rows: readonly AlertRow[]): Promise<Alert[]> {
  if (rows.length === 0) return []
  const sent = Map.groupBy(
    await selectSent(
      db,
      rows.map(({ id }) => id),
    ),
    ({ alert_id }) => alert_id,
  )
  return rows.map((row) => shown(row, sent.get(row.id) ?? []))
}

const shown = (row: AlertRow, sent: readonly SentRow[]): Alert =>
  Alert.parse({
    id: row.id,
    rule_id: row.rule_id,
    rule_name: row.rule_name,
    project_id: row.project_id,
    project: {
      id: row.project_id,
      name: row.project_name,
      slug: row.project_slug,
      platform: row.project_platform,
    },
    issue_id: row.issue_id,
    issue:
      row.issue_id === null || row.issue_number === null
        ? null
        : { id: row.issue_id, short_id: shortId(row.project_slug, row.issue_number), title: row.issue_title },
    trigger_type: row.trigger_type,
    title: row.title,
    severity: row.severity,
    value: row.value,
    unit: row.unit,
    threshold: row.threshold,
    window: row.window_minutes,
    explanation: row.explanation,
    state: row.state,
    fired_at: row.fired_at.toISOString(),
    acknowledged_by:
      row.acknowledged_by === null || row.acknowledger === null
        ? null
        : { id: row.acknowledged_by, name: row.acknowledger },
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolved_reason: row.resolved_reason,
    escalated_at: row.escalated_at?.toISOString() ?? null,
    deliveries: sent.map(shownDelivery),
  })

const shownDelivery = (row: SentRow): AlertDelivery =>
  AlertDelivery.parse({
    id: row.delivery_id,
    action_id: row.action_id,
    action_type: row.action_type,
    target: row.target,
    purpose: row.purpose,
    // The log of the outbox ends after a year; nothing is deleted while it is open.
    state: row.skipped === null ? (row.state ?? 'delivered') : 'skipped',
    skipped: row.skipped,
    attempts: row.attempts_made ?? 0,
    last_status: row.last_status,
    last_error: row.reason ?? row.last_error_code,
    duration_ms: row.last_duration_ms,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
  })
