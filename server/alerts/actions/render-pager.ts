import { createHash } from 'node:crypto'
import type { SeverityName } from '#shared/issue-values.ts'
import type { AlertMessage, AlertMessageType } from '../rules/alert-message.ts'
import { alertDetails, alertExplanation, alertHeadline, oneLine, shortened } from './alert-text.ts'

/** Events of the PagerDuty Events API v2. */

const MAX_SUMMARY = 1_024
const MAX_DEDUP_KEY = 255
const MAX_TEXT = 200
const MAX_EXPLANATION = 2_000
const MINUTE_CHARACTERS = '2026-11-02T10:00'.length

const ACTIONS = {
  'alert.fired': 'trigger',
  'alert.acknowledged': 'acknowledge',
  'alert.resolved': 'resolve',
  'alert.test': 'trigger',
} as const satisfies Record<AlertMessageType, string>

const SEVERITIES = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
} as const satisfies Record<SeverityName, string>

type Link = { readonly href: string; readonly text: string }

export type PagerEvent = {
  readonly routing_key: string
  readonly event_action: (typeof ACTIONS)[AlertMessageType]
  readonly dedup_key: string
  readonly payload?: {
    readonly summary: string
    readonly source: string
    readonly severity: (typeof SEVERITIES)[SeverityName]
    readonly timestamp: string
    readonly component: string
    readonly group: string
    readonly class: string
    readonly custom_details: Readonly<Record<string, string>>
  }
  readonly client?: string
  readonly client_url?: string
  readonly links?: readonly Link[]
}

/** @param subject of the alert: what a rule counts as the same incident */
export function renderPager(message: AlertMessage, subject: string, routingKey: string): PagerEvent {
  const { type, data } = message
  const { alert, project, issue } = data
  const event = { routing_key: routingKey, event_action: ACTIONS[type], dedup_key: dedupKeyOf(message, subject) }
  // An incident that is acknowledged or resolved is named by its key alone.
  if (event.event_action !== 'trigger') return event
  return {
    ...event,
    payload: {
      summary: oneLine(`[${project.name}] ${alertHeadline(message)}`, MAX_SUMMARY),
      source: oneLine(project.slug, MAX_TEXT),
      severity: alert.is_test ? 'info' : SEVERITIES[alert.severity],
      timestamp: alert.fired_at,
      component: oneLine(issue?.culprit || project.platform, MAX_TEXT),
      group: oneLine(project.name, MAX_TEXT),
      class: alert.trigger_type,
      custom_details: {
        Explanation: shortened(alertExplanation(message).toWellFormed(), MAX_EXPLANATION),
        ...(issue === null ? {} : { Issue: oneLine(`${issue.short_id} ${issue.title}`, MAX_TEXT) }),
        ...Object.fromEntries(alertDetails(message).map(({ label, text }) => [label, oneLine(text, MAX_TEXT)])),
      },
    },
    client: 'Faultline',
    client_url: alert.url,
    links: [
      ...(issue === null ? [] : [{ href: issue.url, text: oneLine(issue.short_id, MAX_TEXT) }]),
      { href: data.rule.url, text: 'Rule' },
    ],
  }
}

/** One incident for each rule and subject; one for each summary, and for each test. */
function dedupKeyOf({ data: { alert, rule, summary } }: AlertMessage, subject: string): string {
  if (alert.is_test) return `${rule.id}/test/${alert.id}`
  if (summary !== undefined) return `${rule.id}/summary/${summary.from.slice(0, MINUTE_CHARACTERS)}`
  const key = `${rule.id}/${subject}`
  if (key.length <= MAX_DEDUP_KEY) return key
  return `${rule.id}/${createHash('sha256').update(subject).digest('hex')}`
}
