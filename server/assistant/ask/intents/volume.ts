import {
  filterWords,
  healthFilters,
  issueTerms,
  ofProjects,
  ofScope,
  askedPeriod,
  quotedTerm,
  askedRange,
  type Intent,
} from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases } from '../find-release.ts'
import { Series, Volume } from '../shapes.ts'
import { count, plural } from '../words.ts'

/** "How many errors today?" */
export const volume: Intent = {
  name: 'volume',
  takesTerms: true,
  fits: ({ text, issue, user }) =>
    issue !== null || user !== null
      ? 0
      : /(?:how many|number of|count of|amount of|total|volume of|how much) .{0,24}(?:events?|errors?|crash(?:es)?|exceptions?|reports?|failures)\b(?! rate)|(?:event|error|crash|exception) (?:count|volume|numbers)|more (?:or fewer|or less) (?:errors|events|crashes)/.test(
            text,
          )
        ? 6
        : /\bevents\b|\bexceptions\b/.test(text) && !/\b(?:issues|bugs)\b/.test(text)
          ? 2
          : 0,
  async answer(asked) {
    const { question, facts, say, projectId } = asked
    const period = askedPeriod(asked)
    const releases = await findReleases(asked)
    if (question.releases.length > 0 && releases.length === 0) return
    const [release] = releases
    const onlyFatal = /crash|fatal|unhandled/.test(question.text)
    const found = await facts.read('readVolume', Volume, {
      query: {
        ...(projectId === null ? {} : { projectId: [projectId] }),
        q: [...issueTerms(question), ...(release === undefined ? [] : [`release:${quotedTerm(release.version)}`])].join(
          ' ',
        ),
        from: period.from.toISOString(),
        ...(period.to === null ? {} : { to: period.to.toISOString() }),
      },
    })
    if (found === null) return
    const inside = found.points.filter(
      ({ t }) => new Date(t) >= period.from && (period.to === null || new Date(t) < period.to),
    )
    const fatal = inside.reduce((sum, point) => sum + point.fatal, 0)
    const total = inside.reduce((sum, point) => sum + point.events, 0)
    const what = `${ofScope(asked)}${release === undefined ? '' : ` of issues of ${release.version}`}${filterWords(question)}`
    const cite = facts.source(
      `Error events${what} ${period.label}`,
      'readVolume',
      pathTo('/issues', { project: projectId }),
      [
        ['What', 'Events', 'Fatal or unhandled', 'Events of the time before'],
        ['All', count(total), count(fatal), count(found.previous_total)],
      ],
    )
    say(
      onlyFatal
        ? `**${cite(count(fatal))} ${plural(fatal, 'event')}**${what} ${period.label} ${plural(fatal, 'was', 'were')} fatal or unhandled, of ${cite(count(total))} in all.`
        : `**${cite(count(total))} ${plural(total, 'error event')}**${what} ${period.label}, ${cite(count(fatal))} of them fatal or unhandled.`,
    )
    if (question.period === null || question.period.to === null)
      say(`In the same time before there were ${cite(count(found.previous_total))}.`)
  },
}

/** "How many users were affected?" */
export const affectedUsers: Intent = {
  name: 'affected_users',
  fits: ({ text, issue, user }) =>
    issue !== null || user !== null
      ? 0
      : /(?:how many|number of|count of|total) (?:\w+ )?(?:users?|people|customers)\b/.test(text) ||
          /(?:users|people|customers) (?:are|were|was|is|got|have been|had) .{0,20}(?:affect|hit|impact|crash|error)/.test(
            text,
          )
        ? 6.2
        : /affected users|user impact/.test(text)
          ? 5
          : 0,
  async answer(asked) {
    const { question, facts, say } = asked
    const { range, label } = askedRange(asked)
    const [release] = await findReleases(asked)
    const found = await ofProjects(asked, (project) =>
      facts.read('readMetrics', Users, {
        query: {
          projectId: project.id,
          metric: 'user_count',
          range,
          ...healthFilters({ ...question, os: null, device: null }, release?.version),
        },
      }),
    )
    for (const { project, figures } of found) {
      const users = figures.total ?? 0
      const cite = facts.source(
        `Users of ${project.name} with an error ${label}`,
        'readMetrics',
        pathTo('/metrics', { project: project.id, range }),
        [
          ['What', 'Users with an error', 'The time before', 'Active users'],
          [
            'All',
            count(users),
            figures.previous_total === null ? '–' : count(figures.previous_total),
            typeof figures.totals.active === 'number' ? count(figures.totals.active) : '–',
          ],
        ],
      )
      const { active } = figures.totals
      say(
        `**${cite(count(users))} ${plural(users, 'user')}** of ${project.name} met an error ${label}` +
          (typeof active === 'number' ? `, of ${cite(count(active))} active ${plural(active, 'one')}.` : '.'),
      )
      if (figures.previous_total !== null) say(`In the time before it was ${cite(count(figures.previous_total))}.`)
    }
  },
}
const Users = Series.extend({ totals: Series.shape.totals.extend({ active: Series.shape.total.optional() }) })
