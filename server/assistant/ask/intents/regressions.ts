import { ofScope, askedPeriod, type Asked, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases } from '../find-release.ts'
import { issueRows, listIssues, sayIssues } from '../list-issues.ts'
import { ReleaseDetail } from '../shapes.ts'
import { count, plural } from '../question.ts'

const CAME_BACK =
  /regress|c[ao]me back|came again|coming back|return(?:ed|s|ing)?\b|re-?appear|re-?open|re-?surfac|broke again|broken again|happen(?:s|ed|ing)? again|back again|resolved (?:issues|bugs) .*(?:again|back)/

/** "What regressed since Tuesday?" */
export const regressions: Intent = {
  name: 'regressions',
  fits: ({ text }) => (CAME_BACK.test(text) ? 7 : 0),
  async answer(asked) {
    if (asked.question.releases.length > 0) return ofRelease(asked)
    const period = askedPeriod(asked)
    const found = await listIssues(asked, { sort: '-last_seen', status: ['regressed'], period, limit: 100 })
    if (found === null) return
    const isIn = (at: Date): boolean => at >= period.from && (period.to === null || at < period.to)
    const issues = found.items.filter(({ status_changed_at }) => isIn(new Date(status_changed_at)))
    const cite = asked.facts.source(
      `Issues${ofScope(asked)} that regressed ${period.label} and are not resolved again`,
      'listIssues',
      pathTo('/issues', { project: asked.projectId, q: 'is:regressed' }),
      issueRows(issues, issues.length),
    )
    asked.say(
      `**${cite(count(issues.length))} ${plural(issues.length, 'issue')}**${ofScope(asked)} regressed ${period.label}${issues.length === 0 ? '.' : ':'}`,
    )
    sayIssues(asked.say, cite, issues.slice(0, asked.question.limit ?? 5))
  },
}

async function ofRelease(asked: Asked): Promise<void> {
  for (const { id, version } of await findReleases(asked)) {
    const release = await asked.facts.read('readRelease', ReleaseDetail, { params: { releaseId: id }, query: {} })
    if (release === null) return
    const cite = asked.facts.source(
      `Issues that regressed in ${version}`,
      'readRelease',
      pathTo(`/releases/${id}`),
      issueRows(release.regressed_issues, release.regressions),
    )
    asked.say(
      `**${cite(count(release.regressions))} ${plural(release.regressions, 'issue')}** regressed in ${version}${release.regressions === 0 ? '.' : ':'}`,
    )
    sayIssues(asked.say, cite, release.regressed_issues.slice(0, 5))
  }
}
