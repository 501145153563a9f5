import { filterWords, ofScope, askedPeriod, quotedTerm, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases } from '../find-release.ts'
import { issueRows, listIssues, OPEN, sayIssues } from '../list-issues.ts'
import { plural } from '../question.ts'

const WORST =
  /\bworst|\btop\b|most (?:common|frequent|painful|important|users|people|customers|events|often|severe|affect|harm|impact)|\bbiggest|\bmain\b|\bmajor\b|hurt|priorit|fix first|should (?:we|i) fix|work on|look (?:at|into)|tackle|focus on|what (?:broke|failed|crashed)|which (?:issues|bugs|errors|crashes|problems)|what (?:issues|bugs|errors|crashes|problems)|what(?:'s| is) (?:crashing|breaking|broken|failing)|list (?:the )?(?:issues|bugs|errors|crashes)|show (?:me )?(?:the )?(?:issues|bugs|errors|crashes)|affect(?:s|ing)? (?:the )?most/

/** "Which issues hurt most users?", "Top 3 crashes of 4.12" */
export const worstIssues: Intent = {
  name: 'worst_issues',
  takesTerms: true,
  fits: ({ text, terms }) =>
    WORST.test(text) ? 4 : terms.length > 0 || /\b(?:issues|bugs|problems|errors|crashes)\b/.test(text) ? 1 : 0,
  async answer(asked) {
    const { question, facts, say, projectId } = asked
    const { text } = question
    const period = askedPeriod(asked)
    const byEvents =
      /\bevents?\b|frequent|common|often|occur|count/.test(text) && !/\busers?|people|customers/.test(text)
    const terms: string[] = []
    const words: string[] = []
    if (/\bcrash(?:es|ing)?\b|unhandled|fatal/.test(text) && !/\berrors?|handled errors/.test(text)) {
      terms.push('is:unhandled')
      words.push('unhandled')
    }
    if (/\bcritical\b/.test(text)) {
      terms.push('severity:critical')
      words.push('critical')
    }
    const releases = await findReleases(asked)
    if (question.releases.length > 0 && releases.length === 0) return
    const [release] = releases
    if (release !== undefined) terms.push(`release:${quotedTerm(release.version)}`)
    const found = await listIssues(asked, {
      sort: byEvents ? '-event_count_in_range' : '-user_count_in_range',
      terms,
      status: OPEN,
      period,
    })
    if (found === null) return
    const issues = found.items.filter(({ event_count_in_range }) => (event_count_in_range ?? 0) > 0)
    const what = `${words.length === 0 ? 'open' : `open ${words.join(' and ')}`} issues${ofScope(asked)}${release === undefined ? '' : ` with events of ${release.version}`}${filterWords(question)}`
    const by = byEvents ? 'events' : 'users'
    const cite = facts.source(
      `The ${what} with most ${by} ${period.label}`,
      'listIssues',
      pathTo('/issues', {
        project: projectId,
        q: ['is:unresolved', ...terms].join(' '),
        sort: byEvents ? '-event_count' : '-user_count',
      }),
      issueRows(issues),
    )
    if (issues.length === 0) return say(`No events of ${what} ${period.label}.`)
    say(`The ${plural(issues.length, 'one', 'ones')} with most ${by} ${period.label}, of the ${what}:`)
    sayIssues(say, cite, issues)
  },
}
