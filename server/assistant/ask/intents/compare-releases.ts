import type { Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findRelease, findReleases } from '../find-release.ts'
import { type Release, ReleaseDetail } from '../shapes.ts'
import { count, percent, plural } from '../question.ts'

/** "Compare 4.12 with 4.11", "Is the latest release better than the previous one?" */
export const compareReleases: Intent = {
  name: 'compare_releases',
  fixedTime: 'in the last 30 days',
  fits({ text, releases }) {
    const compares = /compar|\bversus\b|\bvs\b|against|better|\bworse\b|differen|improv|between|relative to/.test(text)
    if (releases.length >= 2) return compares ? 7 : 5
    return compares && (releases.length === 1 || /releases?\b|versions?\b|deploy/.test(text)) ? 6 : 0
  },
  async answer(asked) {
    const { facts, say } = asked
    const named = await findReleases(asked)
    if (asked.question.releases.length > 0 && named.length === 0) return
    // With one, the other is the latest; that one is compared with the one before.
    for (const other of ['latest', 'previous'])
      if (named.length < 2) {
        const found = await findRelease({ ...asked, projectId: named[0]?.project_id ?? asked.projectId }, other)
        if (found !== null && named.every(({ id }) => id !== found.id)) named.unshift(found)
      }
    const read = await Promise.all(
      named
        .slice(0, 2)
        .map(({ id }) =>
          facts.read('readRelease', ReleaseDetail, { params: { releaseId: id }, query: { range: '30d' } }),
        ),
    )
    const releases = read
      .flatMap((release) => (release === null ? [] : [release]))
      .toSorted((a, b) => dateOf(b) - dateOf(a))
    const [newer, older] = releases
    if (newer === undefined || older === undefined) {
      if (facts.refused.size === 0) say('There are no two releases to compare.')
      return
    }
    const cite = facts.source(
      `${newer.version} and ${older.version} in the last 30 days`,
      'readRelease',
      pathTo(`/releases/${newer.id}`),
      [
        ['What', newer.version, older.version],
        ...LINES.map(([name, text]) => [name, text(newer) ?? '–', text(older) ?? '–']),
      ],
    )
    say(`**${newer.version}** compared with ${older.version}, in the last 30 days:`)
    for (const [name, text] of LINES) {
      const [now, then] = [text(newer), text(older)]
      if (now === null && then === null) continue
      say(`- ${name}: ${now === null ? 'unknown' : cite(now)}, before ${then === null ? 'unknown' : cite(then)}`)
    }
    const [now, then] = [newer.crash_free_sessions, older.crash_free_sessions]
    if (now !== null && then !== null)
      say(
        now === then ? 'They crash equally often.' : `${newer.version} crashes ${now > then ? 'less' : 'more'} often.`,
      )
    else
      say(
        `${plural(newer.new_issues, 'One issue is', `${cite(count(newer.new_issues))} issues are`)} new in ${newer.version}; without sessions of both their crash rates cannot be compared.`,
      )
  },
}

const dateOf = ({ released_at, first_seen, created_at }: Release): number =>
  Date.parse(released_at ?? first_seen ?? created_at)

const optional = (value: number | null, text: (value: number) => string): string | null =>
  value === null ? null : text(value)

const LINES: readonly (readonly [string, (release: Release) => string | null])[] = [
  ['Crash-free sessions', ({ crash_free_sessions }) => optional(crash_free_sessions, percent)],
  ['Crash-free users', ({ crash_free_users }) => optional(crash_free_users, percent)],
  ['Sessions', ({ sessions }) => optional(sessions, count)],
  ['Adoption', ({ adoption }) => optional(adoption, percent)],
  ['New issues', ({ new_issues }) => count(new_issues)],
  ['Regressions', ({ regressions }) => count(regressions)],
]
