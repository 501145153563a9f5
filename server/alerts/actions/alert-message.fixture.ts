import type { AlertMessage } from '../rules/alert-message.ts'
import { newId, newPrefixedId } from '../../platform/kernel/ids.ts'

type Data = AlertMessage['data']

export type MessageChanges = {
  readonly type?: AlertMessage['type']
  readonly alert?: Partial<Data['alert']>
  readonly rule?: Partial<Data['rule']>
  readonly project?: Partial<Data['project']>
  /** Null for an alert about no issue. */
  readonly issue?: Partial<NonNullable<Data['issue']>> | null
  readonly summary?: Data['summary']
  readonly escalated?: true
}

/** A message about a new issue. */
export function aMessage({ type = 'alert.fired', summary, escalated, ...changes }: MessageChanges = {}): AlertMessage {
  const [alertId, issueId, ruleId, projectId] = [newId(), newId(), newId(), newId()]
  return {
    id: newPrefixedId('evt'),
    type,
    app_id: projectId,
    user_id: '',
    occurred_at: '2026-11-02T10:00:03.000Z',
    data: {
      alert: {
        id: alertId,
        trigger_type: 'issue_spike',
        title: 'Spike: CartError in CheckoutScreen',
        severity: 'high',
        value: 1_240,
        unit: 'events',
        threshold: 100,
        window_minutes: 60,
        explanation: '1,240 events in the last hour: 31 times the usual 40.',
        state: 'firing',
        fired_at: '2026-11-02T10:00:00.000Z',
        acknowledged_by: null,
        acknowledged_at: null,
        resolved_at: null,
        resolved_reason: null,
        url: `https://faultline.example.com/alerts/history?alert=${alertId}`,
        is_test: type === 'alert.test',
        ...changes.alert,
      },
      rule: {
        id: ruleId,
        name: 'Spikes of the shop',
        url: `https://faultline.example.com/alerts/rules/${ruleId}`,
        ...changes.rule,
      },
      project: { id: projectId, name: 'Shop', slug: 'shop', platform: 'android', ...changes.project },
      issue:
        changes.issue === null
          ? null
          : {
              id: issueId,
              short_id: 'SHOP-42',
              title: 'CartError: no price for article 7',
              culprit: 'CheckoutScreen.total',
              level: 'error',
              status: 'unresolved',
              severity: 'high',
              assignee: { id: newId(), name: 'Ana Ruiz' },
              event_count: 1_240,
              user_count: 312,
              first_seen: '2026-11-02T09:10:00.000Z',
              last_seen: '2026-11-02T09:59:58.000Z',
              last_release: 'shop@4.2.0',
              url: `https://faultline.example.com/issues/${issueId}`,
              ...changes.issue,
            },
      ...(escalated === undefined ? {} : { escalated }),
      ...(summary === undefined ? {} : { summary }),
    },
  }
}

/** The message of an alert that ended. */
export const resolvedAlert = {
  state: 'resolved',
  resolved_at: '2026-11-02T10:20:00.000Z',
  resolved_reason: 'The issue was resolved.',
} as const satisfies Partial<Data['alert']>

export const acknowledgedAlert = {
  state: 'acknowledged',
  acknowledged_by: { id: newId(), name: 'Ana Ruiz' },
  acknowledged_at: '2026-11-02T10:05:00.000Z',
} as const satisfies Partial<Data['alert']>
