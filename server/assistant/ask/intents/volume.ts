import type { z } from 'zod'
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
import { count, plural } from '../question.ts'

/** Asks for the course over days or hours. */
const COURSE =
  /\b(?:per|each|every|by|an?) (?:day|hour)\b|\bdaily\b|\bhourly\b|\bchart\b|\bgraph\b|\bplot\b|\btrends?\b|over time|timeline/
/** A source holds no more. */
const MAX_STEPS = 31

/** "How many errors today?", "Errors per day", "Errors this week against last week" */
export const volume: Intent = {
  name: 'volume',
  takesTerms: true,
  fits: ({ text, issue, user, period, against }) =>
    issue !== null || user !== null
      ? 0
      : /(?:how many|number of|count of|amount of|total|volume of|how much) .{0,24}(?:events?|errors?|crash(?:es)?|exceptions?|reports?|failures)\b(?! rate)|(?:event|error|crash|exception) (?:count|volume|numbers)|more (?:or fewer|or less) (?:errors|events|crashes)/.test(
            text,
          ) ||
          (/\b(?:errors?|crash(?:es)?|events?|exceptions?)\b(?!.* rate)/.test(text) &&
            (against !== null || COURSE.test(text)))
        ? 6
        : against !== null && period !== null
          ? 4.5
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
    const steps = COURSE.test(question.text)
      ? stepsOf(inside, /\bhour/.test(question.text) && found.interval_seconds <= 3_600)
      : []
    const what = `${ofScope(asked)}${release === undefined ? '' : ` of issues of ${release.version}`}${filterWords(question)}`
    const cite = facts.source(
      `Error events${what} ${period.label}`,
      'readVolume',
      pathTo('/issues', { project: projectId }),
      [
        ['What', 'Events', 'Fatal or unhandled', 'Events of the time before'],
        ['All', count(total), count(fatal), count(found.previous_total)],
        ...steps.map(({ name, events, fatal: some }) => [name, count(events), count(some)]),
      ],
    )
    say(
      onlyFatal
        ? `**${cite(count(fatal))} ${plural(fatal, 'event')}**${what} ${period.label} ${plural(fatal, 'was', 'were')} fatal or unhandled, of ${cite(count(total))} in all.`
        : `**${cite(count(total))} ${plural(total, 'error event')}**${what} ${period.label}, ${cite(count(fatal))} of them fatal or unhandled.`,
    )
    for (const { name, events, fatal: some } of steps) say(`- ${name}: ${cite(count(onlyFatal ? some : events))}`)
    if (question.against === null && period.to === null)
      say(`In the same time before there were ${cite(count(found.previous_total))}.`)
  },
}

/** Events by day or by hour. */
function stepsOf(points: z.infer<typeof Volume>['points'], isHourly: boolean) {
  return [...Map.groupBy(points, ({ t }) => (isHourly ? `${t.slice(0, 13).replace('T', ' ')}:00` : t.slice(0, 10)))]
    .map(([name, of]) => ({
      name,
      events: of.reduce((sum, { events }) => sum + events, 0),
      fatal: of.reduce((sum, { fatal }) => sum + fatal, 0),
    }))
    .slice(-MAX_STEPS)
}

const ACTIVE = /\b(?:dau|wau|mau)\b|active (?:users|people|customers)/

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
        : ACTIVE.test(text)
          ? 6.5
          : /affected users|user impact/.test(text)
            ? 5
            : 0,
  async answer(asked) {
    const { question, facts, say } = asked
    const isActive = ACTIVE.test(question.text)
    const days = /\bdau\b|daily active/.test(question.text) ? 1 : /\bmau\b|monthly active/.test(question.text) ? 30 : 7
    const { range, label } = askedRange(asked, days)
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
      if (isActive) {
        say(
          typeof active === 'number'
            ? `**${cite(count(active))} active ${plural(active, 'user')}** of ${project.name} ${label}, ${cite(count(users))} of them met an error.`
            : `How many users of ${project.name} were active ${label} is not known: ${cite(count(users))} met an error.`,
        )
        continue
      }
      say(
        `**${cite(count(users))} ${plural(users, 'user')}** of ${project.name} met an error ${label}` +
          (typeof active === 'number' ? `, of ${cite(count(active))} active ${plural(active, 'one')}.` : '.'),
      )
      if (figures.previous_total !== null) say(`In the time before it was ${cite(count(figures.previous_total))}.`)
    }
  },
}
const Users = Series.extend({ totals: Series.shape.totals.extend({ active: Series.shape.total.optional() }) })
