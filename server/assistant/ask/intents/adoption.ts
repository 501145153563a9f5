import { ofScope, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases } from '../find-release.ts'
import { page, Release } from '../shapes.ts'
import { count, percent, plural } from '../question.ts'

/** "What is the adoption of 4.12?", "How many people have updated?" */
export const adoption: Intent = {
  name: 'adoption',
  fixedTime: 'in the last 24 hours',
  fits: ({ text }) =>
    /adopt|uptake|up ?to date|updated? (?:to|yet|already)|have updated|still (?:on|use|using|run)|(?:on|use|using|run|running|have|installed) (?:the )?(?:latest|newest|old|release|version|v?\d+\.\d+)|share of (?:release|version|users on|\d)|upgrad|migrated to|spread of|rolled out to how many/.test(
      text,
    )
      ? 7
      : 0,
  async answer(asked) {
    const { facts, say, projectId, question } = asked
    const named = await findReleases(asked)
    if (question.releases.length > 0 && named.length === 0) return
    const listed =
      named.length > 0
        ? named
        : ((
            await facts.read('listReleases', page(Release), {
              query: { limit: '25', ...(projectId === null ? {} : { projectId }) },
            })
          )?.items ?? [])
    const releases = (named.length > 0 ? listed : listed.filter(({ adoption: share }) => (share ?? 0) > 0)).slice(
      0,
      question.limit ?? 5,
    )
    const cite = facts.source(
      `Adoption of releases${ofScope(asked)}`,
      'listReleases',
      pathTo('/releases', { project: projectId }),
      [
        [
          'Release',
          'Share of sessions in the last 24 hours',
          'Share of users in the last 24 hours',
          'Sessions in the last 30 days',
          'Users',
        ],
        ...releases.map((release) => [
          release.version,
          release.adoption === null ? '–' : percent(release.adoption),
          release.adoption_users === null ? '–' : percent(release.adoption_users),
          release.sessions === null ? '–' : count(release.sessions),
          release.users === null ? '–' : count(release.users),
        ]),
      ],
    )
    if (releases.length === 0) {
      if (facts.refused.size === 0)
        say(`There were no sessions${ofScope(asked)} in the last 24 hours, so adoption is unknown.`)
      return
    }
    for (const release of releases) {
      const share = release.adoption
      say(
        `- **${release.version}**: ${share === null ? 'no sessions in the last day' : `${cite(percent(share))} of sessions in the last day`}` +
          (release.adoption_users === null ? '' : `, ${cite(percent(release.adoption_users))} of users`) +
          (release.sessions === null
            ? ''
            : `; ${cite(count(release.sessions))} ${plural(release.sessions, 'session')} in the last month`),
      )
    }
  },
}
