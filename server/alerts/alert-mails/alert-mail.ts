import type { SeverityName } from '#shared/issue-values.ts'
import type { MailContent } from '../../platform/mails/mail-content.ts'
import { countedWord, minutesText, withUnit } from '../../platform/kernel/value-text.ts'

/** The text of a mail about an alert (pure). */

export type MailPurpose = 'fired' | 'escalated' | 'summary' | 'test'

/** The part of an alert's message that a mail shows. */
export type MailedAlert = {
  readonly type: string
  readonly data: {
    readonly alert: {
      readonly title: string
      readonly severity: SeverityName
      readonly value: number | null
      readonly unit: string | null
      readonly threshold: number | null
      readonly window_minutes: number | null
      readonly explanation: string
      readonly fired_at: string
      readonly url: string
    }
    readonly rule: { readonly id: string; readonly name: string }
    readonly project: { readonly id: string; readonly name: string }
    readonly issue: {
      readonly short_id: string
      readonly title: string
      readonly culprit: string
      readonly assignee: { readonly id: string; readonly name: string } | null
      readonly event_count: number
      readonly user_count: number
      readonly last_release: string | null
      readonly url: string
    } | null
    readonly summary?: { readonly count: number; readonly from: string; readonly to: string } | undefined
  }
}

const MAX_SUBJECT = 150

/** Without the receiver and the link that unsubscribes. */
export function alertMail({ data }: MailedAlert, purpose: MailPurpose): Omit<MailContent, 'name'> {
  const { alert, rule, project, issue } = data
  const title = titleOf(data, purpose)
  const subject = `${purpose === 'test' ? '[Test] ' : ''}[${project.name}] ${title}`
  return {
    subject: subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1).toWellFormed()}…` : subject,
    paragraphs: [...openingOf(data, purpose), alert.explanation],
    details: [
      ['Severity', alert.severity],
      ...measuredRows(alert),
      ...(issue === null ? [] : issueRows(issue)),
      ['Fired', `${alert.fired_at.slice(0, 16).replace('T', ' ')} UTC`],
      ['Project', project.name],
      ['Rule', rule.name],
    ],
    action: { label: 'Open the alert', url: alert.url },
    ...(issue === null ? {} : { links: [{ label: `Open the issue ${issue.short_id}`, url: issue.url }] }),
    reason: `You receive this mail because the alert rule “${rule.name}” of ${project.name} sends its alerts to you.`,
  }
}

function titleOf({ alert, rule, summary }: MailedAlert['data'], purpose: MailPurpose): string {
  if (purpose === 'escalated') return `Not acknowledged: ${alert.title}`
  if (purpose === 'summary') return `${countOf(summary?.count ?? 1)} of ${rule.name}`
  return alert.title
}

function openingOf({ alert, rule, summary }: MailedAlert['data'], purpose: MailPurpose): string[] {
  if (purpose === 'test') return ['This is a test of an alert rule. Nothing has happened.']
  if (purpose === 'escalated') return ['No member has acknowledged this alert in time.']
  if (purpose === 'summary')
    return [
      `${rule.name} fired more often than it sends mails: ${countOf(summary?.count ?? 1)} in a minute. The newest is “${alert.title}”.`,
    ]
  return []
}

const countOf = (count: number): string => countedWord(count, 'further alert')

type Row = readonly [string, string]

function measuredRows({ value, unit, threshold, window_minutes }: MailedAlert['data']['alert']): Row[] {
  if (value === null) return []
  const limit = threshold === null ? '' : ` (threshold ${withUnit(threshold, unit)})`
  const during = window_minutes === null ? '' : `, within ${minutesText(window_minutes)}`
  return [['Measured', `${withUnit(value, unit)}${limit}${during}`]]
}

function issueRows(issue: NonNullable<MailedAlert['data']['issue']>): Row[] {
  return [
    ['Issue', `${issue.short_id} ${issue.title}`],
    ...(issue.culprit === '' ? [] : [['Where', issue.culprit] as const]),
    ['Seen', `${countedWord(issue.event_count, 'event')}, ${countedWord(issue.user_count, 'user')}`],
    ...(issue.last_release === null ? [] : [['Last release', issue.last_release] as const]),
    ...(issue.assignee === null ? [] : [['Assignee', issue.assignee.name] as const]),
  ]
}
