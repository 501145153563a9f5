import { countedWord, minutesText, withUnit } from '../../platform/kernel/value-text.ts'
import type { SeverityName } from '#shared/issue-values.ts'
import type { AlertMessage } from '../rules/alert-message.ts'

/** Texts about an alert in messages that users read, in every form. */

type MessageAlert = AlertMessage['data']['alert']

/** `text` may be long and hold anything; forms cut and escape it. */
export type Detail = { readonly label: string; readonly text: string }

const STATE_WORDS = {
  firing: null,
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
  expired: 'Expired',
} as const satisfies Record<MessageAlert['state'], string | null>

/** One line, with what happened to the alert in front. */
export function alertHeadline({ data: { alert, rule, escalated, summary } }: AlertMessage): string {
  const title = summary === undefined ? alert.title : `${summary.count} alerts of ${rule.name}`
  const word = alert.is_test ? 'Test' : (STATE_WORDS[alert.state] ?? (escalated === true ? 'Escalated' : null))
  return word === null ? title : `${word}: ${title}`
}

/** The next step after a message with several alerts, or why the alert fired. */
export const alertExplanation = ({ data: { alert, summary } }: AlertMessage): string =>
  summary === undefined ? alert.explanation : `The newest of them: ${alert.title}. ${alert.explanation}`

export function alertDetails({ data: { alert, rule, project, issue } }: AlertMessage): Detail[] {
  return [
    { label: 'Project', text: project.name },
    { label: 'Severity', text: SEVERITY_WORDS[alert.severity] },
    ...(alert.value === null ? [] : [{ label: 'Measured', text: measured(alert, alert.value) }]),
    ...(issue === null
      ? []
      : [
          {
            label: 'Seen',
            text: `${countedWord(issue.event_count, 'event')}, ${countedWord(issue.user_count, 'user')}`,
          },
          ...(issue.last_release === null ? [] : [{ label: 'Release', text: issue.last_release }]),
          { label: 'Assignee', text: issue.assignee?.name ?? 'None' },
        ]),
    { label: 'Rule', text: rule.name },
  ]
}

const SEVERITY_WORDS = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
} as const satisfies Record<SeverityName, string>

function measured({ unit, threshold, window_minutes: minutes }: MessageAlert, value: number): string {
  const bound = threshold === null ? '' : ` (threshold ${withUnit(threshold, unit)})`
  return `${withUnit(value, unit)}${bound}${minutes === null ? '' : ` over ${minutesText(minutes)}`}`
}

/** Who or what ended the alert, or made it wait; the forms add the time. */
export function describeAlertState({ data: { alert } }: AlertMessage): { readonly text: string; readonly at: string } {
  if (alert.state === 'firing') return { text: 'Fired', at: alert.fired_at }
  if (alert.state === 'acknowledged')
    return {
      text: `Acknowledged by ${alert.acknowledged_by?.name ?? 'a former member'}`,
      at: alert.acknowledged_at ?? alert.fired_at,
    }
  const reason = alert.resolved_reason === null ? '' : ` (${alert.resolved_reason})`
  return { text: `${STATE_WORDS[alert.state]}${reason}`, at: alert.resolved_at ?? alert.fired_at }
}

/** {@link describeAlertState} with its time, for forms that cannot show the zone of the reader. */
export function alertStateLine(message: AlertMessage, max: number): string {
  const { text, at } = describeAlertState(message)
  return `${oneLine(text, max)}, ${at.slice(0, 16).replace('T', ' ')} UTC`
}

/** Red, green and blue of a severity, for forms that colour the edge of a message. */
export const SEVERITY_COLOURS = {
  critical: 0xd0_34_2c,
  high: 0xd9_6b_12,
  medium: 0xb9_86_00,
  low: 0x7c_87_96,
} as const satisfies Record<SeverityName, number>

/** In one line and without control characters, shortened to so many UTF-16 units. */
export const oneLine = (text: string, max: number): string =>
  shortened(text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim(), max)

/** The beginning of a text, without half a character. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
