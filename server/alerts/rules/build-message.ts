import { SEVERITIES, severityName, shortId } from '#shared/issue-values.ts'
import { z } from 'zod'
import { AlertMessage, type AlertMessageType } from './alert-message.ts'
import type { AlertForMessage } from './fired.queries.ts'

/** The occasion of a message, beside its alert. */
type MessageAbout = {
  readonly id: string
  readonly type: AlertMessageType
  /** Who acted. */
  readonly userId: string | null
  readonly at: Date
  readonly isEscalated?: boolean
  readonly summary?: AlertMessage['data']['summary']
}

/** @param publicUrl of the installation, for links */
export function buildMessage(row: AlertForMessage, about: MessageAbout, publicUrl: string): AlertMessage {
  return AlertMessage.parse({
    id: about.id,
    type: about.type,
    app_id: row.project_id,
    user_id: about.userId ?? '',
    occurred_at: about.at.toISOString(),
    data: {
      alert: {
        id: row.id,
        trigger_type: row.trigger_type,
        title: row.title,
        severity: row.severity,
        value: row.value,
        unit: row.unit,
        threshold: row.threshold,
        window_minutes: row.window_minutes,
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
        url: alertUrl(publicUrl, row.id),
        is_test: about.type === 'alert.test',
      },
      rule: { id: row.rule_id, name: row.rule_name, url: `${publicUrl}/alerts/rules/${row.rule_id}` },
      project: {
        id: row.project_id,
        name: row.project_name,
        slug: row.project_slug,
        platform: row.project_platform,
      },
      issue: issueOf(row, publicUrl),
      ...(about.isEscalated === true ? { escalated: true } : {}),
      ...(about.summary === undefined ? {} : { summary: about.summary }),
    },
  } satisfies z.input<typeof Loose>)
}

/** Columns are texts; {@link AlertMessage} checks them. */
const Loose = z.looseObject({ data: z.looseObject({}) })

const alertUrl = (publicUrl: string, alertId: string): string => `${publicUrl}/alerts/history?alert=${alertId}`

function issueOf(row: AlertForMessage, publicUrl: string) {
  if (row.issue_id === null || row.issue_number === null || row.first_seen === null || row.last_seen === null)
    return null
  return {
    id: row.issue_id,
    short_id: shortId(row.project_slug, row.issue_number),
    title: row.issue_title ?? '',
    culprit: row.culprit ?? '',
    level: row.level ?? '',
    status: row.issue_status ?? '',
    severity: row.issue_severity === null ? SEVERITIES[2] : severityName(row.issue_severity),
    assignee:
      row.assignee_id === null || row.assignee_name === null ? null : { id: row.assignee_id, name: row.assignee_name },
    event_count: row.event_count ?? 0,
    user_count: row.user_count ?? 0,
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
    last_release: row.last_release,
    url: `${publicUrl}/issues/${row.issue_id}`,
  }
}
