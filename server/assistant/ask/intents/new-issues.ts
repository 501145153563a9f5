import { filterWords, ofScope, askedPeriod, quotedTerm, type Asked, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases } from '../find-release.ts'
import { issueRows, listIssues, sayIssues, totalText } from '../list-issues.ts'
import { plural } from '../question.ts'

const NEW =
  /\bnew(?:ly)?\b|first (?:seen|appear)|never seen|unseen|introduc|\bfresh\b|start(?:ed)? (?:happening|appearing|occurring)|showed up|popped up|appeared|came in/

/** "What is new since Tuesday?", "Which issues did 4.12 introduce?" */
export const newIssues: Intent = {
  name: 'new_issues',
  takesTerms: true,
  fits: ({ text, releases }) =>
    (releases.length > 0 && /\bwhat (?:broke|has broken)\b/.test(text)) ||
    NEW.test(text.replaceAll(/\bnew(?:est)? (?:release|version|build)\b/g, ''))
      ? /\bissue|\bbug|\berror|\bcrash|\bproblem|exception|what/.test(text)
        ? 5
        : 3
      : 0,
  async answer(asked) {
    if (asked.question.releases.length > 0) return ofRelease(asked)
    const { say, facts, projectId, question } = asked
    const period = askedPeriod(asked)
    const terms = [`first_seen:>=${period.from.toISOString()}`]
    if (period.to !== null) terms.push(`first_seen:<${period.to.toISOString()}`)
    const found = await listIssues(asked, { sort: '-event_count_in_range', terms, period })
    if (found === null) return
    const title = `Issues${ofScope(asked)}${filterWords(question)} first seen ${period.label}`
    const cite = facts.source(
      title,
      'listIssues',
      pathTo('/issues', { project: projectId, q: `is:unresolved ${terms.join(' ')}` }),
      issueRows(found.items, found.total),
    )
    const total = cite(totalText(found.total, found.total_capped))
    say(
      `**${total} new ${plural(found.total, 'issue')}**${ofScope(asked)}${filterWords(question)} ${period.label}${found.total === 0 ? '.' : ':'}`,
    )
    sayIssues(say, cite, found.items)
  },
}

async function ofRelease(asked: Asked): Promise<void> {
  for (const release of await findReleases(asked)) {
    const found = await listIssues(asked, {
      sort: '-event_count',
      terms: [`first_release:${quotedTerm(release.version)}`],
    })
    if (found === null) return
    const cite = asked.facts.source(
      `Issues first seen in ${release.version}`,
      'listIssues',
      pathTo(`/releases/${release.id}`),
      issueRows(found.items, found.total),
    )
    asked.say(
      `**${cite(totalText(found.total, found.total_capped))} ${plural(found.total, 'issue')}** ${plural(found.total, 'was', 'were')} first seen in ${release.version}${found.total === 0 ? '.' : ':'}`,
    )
    sayIssues(asked.say, cite, found.items)
  }
}
