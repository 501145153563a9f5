import { formatCount } from '../../ui/format.ts'
import type { ActionType, AlertState, TriggerType } from '#shared/alert-rules.ts'

/** Texts of alerts that several features show. */

export const alertTexts = {
  acknowledge: 'Ack',
  /** After a button's word, for screen readers. */
  which: (title: string) => ` ${title}`,
  acknowledgeAll: 'Acknowledge all',
  notAcknowledged: 'Could not acknowledge.',
  allAcknowledged: (count: number) =>
    count === 1 ? '1 alert acknowledged' : `${formatCount(count)} alerts acknowledged`,
  acknowledgedAt: (clock: string) => `acked ${clock}`,
  acknowledgedBy: (name: string, at: string) => `Acknowledged by ${name} at ${at}`,
  you: 'You',
  events: (count: string) => `${count} events`,
  runs: (count: string) => `${count} in a row`,
  perHour: (percent: string) => `${percent} per hour`,

  triggers: {
    new_issue: 'New issue',
    issue_regression: 'Regression',
    issue_spike: 'Spike',
    security_event: 'Security event',
    pre_crash_state: 'Crash signs',
    battery_drain_threshold: 'Battery',
    performance_threshold: 'Performance',
    critical_path: 'Critical path',
    monitor: 'Monitor',
  } satisfies Record<TriggerType, string>,

  states: {
    firing: 'Firing',
    acknowledged: 'Acknowledged',
    resolved: 'Resolved',
    expired: 'Expired',
  } satisfies Record<AlertState, string>,

  channels: {
    chat: 'Chat',
    webhook: 'Webhook',
    email: 'E-mail',
    pager: 'Pager',
    teamchat: 'Team chat',
    discord: 'Discord',
    mattermost: 'Mattermost',
    telegram: 'Telegram',
    ntfy: 'ntfy',
    push: 'Push',
  } satisfies Record<ActionType | 'push', string>,

  purposes: {
    fired: 'Alert',
    acknowledged: 'Acknowledgement',
    resolved: 'Resolution',
    escalated: 'Escalation',
    summary: 'Summary',
  },

  deliveries: {
    delivered: 'Delivered',
    inFlight: 'Sending',
    pending: 'Waiting',
    due: 'Retry due',
    retry: (left: string) => `Retry in ${left}`,
    failed: 'Failed',
    skipped: 'Not sent',
    attempts: (count: number) => (count === 1 ? '1 attempt' : `${formatCount(count)} attempts`),
    answer: (status: number, duration: string) => `${status} in ${duration}`,
    accepted: (duration: string) => `accepted in ${duration}`,
    acceptedNow: 'accepted',
  },
} as const
