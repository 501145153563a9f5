import { ofProjects, type Asked, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findRelease, findReleases } from '../find-release.ts'
import { count, percent, plural } from '../question.ts'

/** Each verdict as advice for a rollout. */
const ADVICE: Readonly<Record<string, string>> = {
  healthy: 'Yes: the rollout can go on.',
  watch: 'Go on slowly, and watch it.',
  hold: 'No: stop the rollout.',
  too_early: 'Too early to tell: wait for more sessions.',
  replaced: 'A newer release has replaced it.',
  no_sessions: 'Its health is unknown: it sends no sessions.',
  planned: 'Nothing of it has arrived yet.',
  archived: 'It is archived.',
}

/** "Is 4.12 healthy?", "Should the rollout go on?" */
export const releaseHealth: Intent = {
  name: 'release_health',
  fixedTime: 'in the last 30 days',
  fits: ({ text, releases }) =>
    /health|roll(?:ing)?[- ]?(?:out|back)|\bsafe\b|\bship|verdict|go on\b|continue|pause|halt|\bstop\b|release .*(?:ok|okay|good|fine)|good enough|stable enough/.test(
      text,
    )
      ? 7
      : releases.length === 1 && /\bhow (?:is|does|did|are)\b|doing|going|look|status|about|tell/.test(text)
        ? 4
        : releases.length === 1
          ? /\bbr[eo]ak|\bbroke/.test(text)
            ? 4.5
            : 0.5
          : 0,
  async answer(asked) {
    const { facts, say } = asked
    const named = await findReleases(asked)
    if (asked.question.releases.length > 0 && named.length === 0) return
    const releases = named.length > 0 ? named : await latestOfEach(asked)
    if (releases.length === 0 && facts.refused.size === 0) say('There is no release here yet.')
    for (const release of releases) {
      const { verdict_numbers: numbers } = release
      const rate = numbers.crash_free_sessions
      const cite = facts.source(
        `Health of ${release.version} in the last 30 days`,
        'listReleases',
        pathTo(`/releases/${release.id}`),
        [
          ['What', 'Value', 'Text'],
          ['Verdict', '', release.verdict],
          ['Reason', '', release.verdict_reason],
          ['Sessions', count(numbers.sessions)],
          ['Crash-free sessions', rate === null ? '–' : percent(rate)],
          ['Compared with', '', numbers.previous],
          ['Fall of it', numbers.fall === null ? '–' : percent(numbers.fall)],
          ['Adoption', release.adoption === null ? '–' : percent(release.adoption)],
          ['New issues', count(release.new_issues)],
          ['Regressions', count(release.regressions)],
        ],
      )
      say(`**${release.version}: ${release.verdict.replaceAll('_', ' ')}.** ${ADVICE[release.verdict] ?? ''}`)
      if (rate !== null)
        say(
          `- ${cite(percent(rate))} of ${cite(count(numbers.sessions))} ${plural(numbers.sessions, 'session')} are crash-free`,
        )
      if (numbers.is_significant && numbers.fall !== null && numbers.previous !== null)
        say(
          `- That ${numbers.fall > 0 ? 'is lower' : 'is higher'} than ${numbers.previous}, by more than chance: ${cite(percent(Math.abs(numbers.fall)))}`,
        )
      if (release.adoption !== null) say(`- Adoption in the last day: ${cite(percent(release.adoption))} of sessions`)
      say(
        `- ${cite(count(release.new_issues))} new ${plural(release.new_issues, 'issue')}, ${cite(count(release.regressions))} ${plural(release.regressions, 'regression')}`,
      )
    }
  },
}

/** The latest release of each project that is asked about. */
const latestOfEach = async (asked: Asked) =>
  (await ofProjects(asked, (project) => findRelease({ ...asked, projectId: project.id }, 'latest'))).map(
    ({ figures }) => figures,
  )
