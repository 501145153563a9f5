import type { Asked, Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findIssue } from '../find-issue.ts'
import { IssueUsers } from '../shapes.ts'
import { count, plural, quoted } from '../question.ts'
import { sayMissingIssue } from './issue.ts'

/** "Who is affected by SHOP-3?" */
export const issueUsers: Intent = {
  name: 'issue_users',
  fixedTime: 'of all time',
  fits: ({ text, issue }) =>
    issue === null || /\bassign|\bown(?:s|ed|er)?\b/.test(text)
      ? 0
      : /\bwho\b|\bwhom\b|which users|how many (?:users|people|customers|accounts)|affect|impact|\bhit\b|\bhits\b|customers|\busers\b|people/.test(
            text,
          )
        ? 9
        : 0,
  async answer(asked) {
    const issue = await findIssue(asked)
    if (issue === null) return sayMissingIssue(asked)
    const users = await asked.facts.read('listIssueUsers', IssueUsers, {
      params: { issueId: issue.id },
      query: { limit: String(asked.question.limit ?? 5) },
    })
    const cite = asked.facts.source(
      `Users affected by ${issue.short_id}`,
      'listIssueUsers',
      pathTo(`/issues/${issue.id}`),
      [
        ['User', 'Events', 'Last seen', 'Users'],
        ...(users?.items ?? []).map(({ label, key, events, last_seen }) => [
          label ?? key ?? 'unknown',
          count(events),
          last_seen.slice(0, 16).replace('T', ' '),
        ]),
        ['All', count(issue.event_count), '', count(issue.user_count)],
      ],
    )
    asked.say(
      `${issue.short_id} ${quoted(issue.title)} affected **${cite(count(issue.user_count))} ${plural(issue.user_count, 'user')}** with ${cite(count(issue.event_count))} ${plural(issue.event_count, 'event')}.`,
    )
    sayUsers(asked, cite, users?.items ?? [])
  },
}

function sayUsers(
  asked: Asked,
  cite: (figure: string) => string,
  users: readonly { readonly label: string | null; readonly key: string | null; readonly events: number }[],
): void {
  const named = users.filter(({ label, key }) => label !== null || key !== null)
  if (named.length === 0) return
  asked.say('Those with most of its stored events:')
  for (const { label, key, events } of named)
    asked.say(`- ${quoted(label ?? key ?? '')}: ${cite(count(events))} ${plural(events, 'event')}`)
}
