import { ofScope, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { listIssues, totalText } from '../list-issues.ts'
import { IssueEvents } from '../shapes.ts'
import { count, plural, quoted } from '../question.ts'

/** "What happened to user 17?" */
export const userIssues: Intent = {
  name: 'user_issues',
  fits: ({ user }) => (user === null ? 0 : 6),
  async answer(asked) {
    const { question, facts, say, projectId } = asked
    const user = question.user ?? ''
    const found = await listIssues(asked, { sort: '-last_seen' })
    if (found === null) return
    const { period } = question
    const ofUser = await Promise.all(
      found.items.map(async (issue) => ({
        issue,
        events: await facts.read('listIssueEvents', IssueEvents, {
          params: { issueId: issue.id },
          query: {
            user,
            limit: '1',
            ...(period === null
              ? {}
              : { from: period.from.toISOString(), ...(period.to === null ? {} : { to: period.to.toISOString() }) }),
          },
        }),
      })),
    )
    const shown = ofUser.filter(({ events }) => period === null || (events?.total ?? 0) > 0)
    const total = period === null ? found.total : shown.length
    const label = period === null ? '' : ` ${period.label}`
    const cite = facts.source(
      `Issues${ofScope(asked)} of user ${user}${label}`,
      'listIssues',
      pathTo('/issues', { project: projectId, q: `user:"${user}"` }),
      [
        ['Issue', 'Title', 'Events of the user', 'Last seen', 'Issues'],
        ...shown.map(({ issue, events }) => [
          issue.short_id,
          issue.title,
          count(events?.total ?? 0),
          issue.last_seen.slice(0, 16).replace('T', ' '),
        ]),
        ['All', '', '', '', count(total)],
      ],
    )
    say(
      `User ${quoted(user)} met **${cite(totalText(total, period === null ? found.total_capped : undefined))} ${plural(total, 'issue')}**${ofScope(asked)}${label}${total === 0 ? '.' : ':'}`,
    )
    for (const { issue, events } of shown)
      say(
        `- ${issue.short_id} ${quoted(issue.title)}: ${cite(count(events?.total ?? 0))} ${plural(events?.total ?? 0, 'event')} of this user, ${issue.status}`,
      )
  },
}
