import { filterWords, ofScope, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { issueRows, listIssues, OPEN, sayIssues, totalText } from '../list-issues.ts'
import { plural } from '../question.ts'

/** "How many open issues are there?", "What is assigned to me?", "Which critical issues are unassigned?" */
export const openIssues: Intent = {
  name: 'open_issues',
  takesTerms: true,
  fixedTime: 'of now',
  fits({ text, issue }) {
    if (issue !== null) return 0
    if (/assigned|\bmy (?:issues|bugs|tasks)|on my plate|nobody|no owner|waiting for me/.test(text)) return 8
    if (/\b(?:open|unresolved|resolved|ignored|escalated|unsolved|remaining)\b/.test(text))
      return /how many|number of|count|list|which|what|show|are there/.test(text) ? 6 : 4
    return /how many (?:critical )?(?:issues|bugs|problems)\b/.test(text) ? 5 : /\bcritical\b/.test(text) ? 3 : 0
  },
  async answer(asked) {
    const { question, facts, say, projectId } = asked
    const { text } = question
    const status = /\bunresolved\b/.test(text)
      ? OPEN
      : /\bresolved\b/.test(text)
        ? ['resolved']
        : /\bignored\b/.test(text)
          ? ['ignored']
          : /\bescalated\b/.test(text)
            ? ['escalated']
            : OPEN
    const state = status === OPEN ? 'open' : (status[0] ?? '')
    const isOldest = /\boldest\b/.test(text)
    const isCritical = /\bcritical\b/.test(text)
    const assignee = /unassigned|not assigned|nobody|no owner/.test(text)
      ? { id: 'none', words: ' without an assignee' }
      : /assigned to me|\bmy\b|\bme\b/.test(text)
        ? { id: 'me', words: ' assigned to you' }
        : null
    const terms = isCritical ? ['severity:critical'] : []
    const found = await listIssues(asked, {
      sort: isOldest ? 'first_seen' : '-user_count',
      terms,
      status,
      ...(assignee === null ? {} : { assignee: assignee.id }),
    })
    if (found === null) return
    const what = (n: number): string =>
      `${state}${isCritical ? ' critical' : ''} ${plural(n, 'issue')}${ofScope(asked)}${filterWords(question)}${assignee?.words ?? ''}`
    const cite = facts.source(
      `The ${what(2)}`,
      'listIssues',
      pathTo('/issues', {
        project: projectId,
        q: [`is:${state === 'open' ? 'unresolved' : state}`, ...terms].join(' '),
      }),
      issueRows(found.items, found.total),
    )
    const n = found.total
    say(
      `${plural(n, 'There is', 'There are')} **${cite(totalText(n, found.total_capped))} ${what(n)}**${n === 0 ? '.' : `, ${isOldest ? 'the oldest' : 'those with most users'} first:`}`,
    )
    sayIssues(say, cite, found.items)
  },
}
