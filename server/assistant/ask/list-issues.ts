import { issueTerms, type Asked } from './asked.ts'
import type { Cite } from './facts.ts'
import { type Issue, Issues } from './shapes.ts'
import type { Period } from './time-words.ts'
import { count, plural, quoted } from './question.ts'

/** Issues in any of these states need work. */
export const OPEN = ['unresolved', 'regressed', 'escalated'] as const

export type Wanted = {
  readonly sort: string
  readonly terms?: readonly string[]
  readonly status?: readonly string[]
  readonly assignee?: string
  /** Counts events and users of it, too. */
  readonly period?: Period
  readonly limit?: number
}

/** Issues of the scope and the filters of the question. */
export function listIssues({ question, projectId, facts }: Asked, wanted: Wanted) {
  const { period } = wanted
  return facts.read('listIssues', Issues, {
    query: {
      q: [...issueTerms(question), ...(wanted.terms ?? [])].join(' '),
      sort: wanted.sort,
      limit: String(wanted.limit ?? question.limit ?? 5),
      ...(projectId === null ? {} : { projectId: [projectId] }),
      ...(wanted.status === undefined ? {} : { status: [...wanted.status] }),
      ...(wanted.assignee === undefined ? {} : { assignee_id: [wanted.assignee] }),
      ...(period === undefined
        ? {}
        : { from: period.from.toISOString(), ...(period.to === null ? {} : { to: period.to.toISOString() }) }),
    },
  })
}

/**
 * A table of issues for a source.
 * @param total of a list that has more of them
 */
export const issueRows = (issues: readonly Issue[], total?: number): string[][] => [
  [
    'Issue',
    'Title',
    'Status',
    'Events',
    'Users',
    'Events in the time',
    'Users in the time',
    'First seen',
    'Last release',
    'Issues',
  ],
  ...issues.map((issue) => [
    issue.short_id,
    issue.title,
    issue.status,
    count(issue.event_count),
    count(issue.user_count),
    issue.event_count_in_range === null ? '' : count(issue.event_count_in_range),
    issue.user_count_in_range === null ? '' : count(issue.user_count_in_range),
    issue.first_seen.slice(0, 16).replace('T', ' '),
    issue.last_release ?? '',
    '',
  ]),
  ...(total === undefined ? [] : [['All', '', '', '', '', '', '', '', '', count(total)]]),
]

/** A list of issues with their counts: those of the time, where they are known. */
export function sayIssues(say: Asked['say'], cite: Cite, issues: readonly Issue[]): void {
  for (const issue of issues) {
    const events = issue.event_count_in_range ?? issue.event_count
    const users = issue.event_count_in_range === null ? issue.user_count : issue.user_count_in_range
    say(
      `- ${issue.short_id} ${quoted(issue.title)}: ${cite(count(events))} ${plural(events, 'event')}` +
        (users === null ? '' : `, ${cite(count(users))} ${plural(users, 'user')}`) +
        (issue.status === 'unresolved' ? '' : `, ${issue.status}`),
    )
  }
}

/** A total that stops at 10,000. */
export const totalText = (total: number, capped: true | undefined): string =>
  `${capped === true ? 'over ' : ''}${count(total)}`
