import { ofScope, type Asked, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases } from '../find-release.ts'
import { listIssues } from '../list-issues.ts'
import { page, Release } from '../shapes.ts'
import { timeText } from '../time-words.ts'
import { count, plural, quoted } from '../question.ts'

/** "which release broke checkout": of a part of the app. */
const BROKE =
  /\b(?:which|what) (?:release|version|build|deploy(?:ment)?) (?:broke|breaks|has broken|caused|introduced)\b/
const BROKEN = /(?:broke|breaks|broken|caused|introduced) (?:the |our |all )?([\p{L}][\p{L}\d_-]+)/u

/** "List releases", "When did we ship 4.12?", "Which release broke checkout?" */
export const releases: Intent = {
  name: 'releases',
  fixedTime: 'of all time',
  fits: ({ text }) =>
    BROKE.test(text) ||
    /\b(?:list|show) (?:me )?(?:all )?(?:the |our )?(?:last |latest |newest |recent )?(?:\w+ )?(?:releases|versions)$|\bwhen (?:did|was|were) .*(?:ship|releas|deploy|come out)|\b(?:what|which)(?:'s| is| are) (?:the |our )?(?:latest|newest|current) (?:releases?|versions?|builds?)$/.test(
      text,
    )
      ? 7.5
      : 0,
  async answer(asked) {
    const { facts, question, projectId, say } = asked
    const named = await findReleases(asked)
    if (question.releases.length > 0 && named.length === 0) return
    if (BROKE.test(question.text)) await sayBroken(asked)
    const found =
      named.length > 0
        ? null
        : await facts.read('listReleases', page(Release), {
            query: { limit: String(question.limit ?? 10), ...(projectId === null ? {} : { projectId }) },
          })
    const listed = found?.items ?? named
    if (listed.length === 0) {
      if (facts.refused.size === 0) say(`There is no release${ofScope(asked)} yet.`)
      return
    }
    const cite = facts.source(
      `Releases${ofScope(asked)}`,
      'listReleases',
      pathTo('/releases', { project: projectId }),
      [
        ['Release', 'Released', 'Verdict', 'New issues', 'Regressions'],
        ...listed.map((one) => [one.version, dateOf(one), one.verdict, count(one.new_issues), count(one.regressions)]),
      ],
    )
    say(`Releases${ofScope(asked)}, with their new issues and regressions:`)
    for (const one of listed)
      say(
        `- **${one.version}**, ${dateOf(one)}: ${cite(count(one.new_issues))} new ${plural(one.new_issues, 'issue')}, ${cite(count(one.regressions))} ${plural(one.regressions, 'regression')}`,
      )
  },
}

const dateOf = ({ released_at, first_seen }: Release): string => {
  const at = released_at ?? first_seen
  return at === null ? 'not released' : timeText(new Date(at))
}

/** Issues that name what broke, each with the release that brought it. */
async function sayBroken(asked: Asked): Promise<void> {
  const part = asked.question.quoted ?? BROKEN.exec(asked.question.text)?.[1]
  if (part === undefined) return
  const found = await listIssues(asked, { sort: '-user_count', terms: [`"${part.replaceAll(/["\\]/g, ' ')}"`] })
  if (found === null) return
  const cite = asked.facts.source(
    `Issues${ofScope(asked)} that name ${part}`,
    'listIssues',
    pathTo('/issues', { project: asked.projectId, q: part }),
    [
      ['Issue', 'Title', 'First release', 'Users', 'Issues'],
      ...found.items.map((one) => [one.short_id, one.title, one.first_release, count(one.user_count), '']),
      ['All', '', '', '', count(found.total)],
    ],
  )
  asked.say(
    `**${cite(count(found.total))} ${plural(found.total, 'issue')}**${ofScope(asked)} ${plural(found.total, 'names', 'name')} ${quoted(part)}${found.total === 0 ? '.' : ', with the release that each came in with:'}`,
  )
  for (const { short_id, title, first_release, user_count } of found.items)
    asked.say(
      `- ${short_id} ${quoted(title)}: ${quoted(first_release ?? 'no release')}, ${cite(count(user_count))} ${plural(user_count, 'user')}`,
    )
}
