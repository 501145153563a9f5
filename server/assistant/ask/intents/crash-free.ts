import { filterWords, healthFilters, ofScope, askedPeriod, askedRange, type Asked, type Intent } from '../asked.ts'
import { pathTo, type Cite } from '../facts.ts'
import { findReleases, ofReleases } from '../find-release.ts'
import { type Release, Series } from '../shapes.ts'
import { coveringRange, timeText, type Period } from '../time-words.ts'
import { count, percent, plural, quoted } from '../question.ts'

/** "How did the crash-free rate develop?", "What is the crash rate of 4.12 on Android?" */
export const crashFree: Intent = {
  name: 'crash_free',
  fits: ({ text }) =>
    /crash[- ]?fre+\b|crash(?:ing)? rates?|stability|\bstable\b|(?:share|percentage|fraction|proportion) of (?:sessions|users)[\w ]* crash|how (?:often|frequently) do(?:es)? .*crash|crashed sessions|sessions (?:that )?crash|how many sessions|number of sessions|get(?:ting|s)? (?:any )?(?:better|worse)/.test(
      text,
    )
      ? 6
      : /\btrend|over time|develop/.test(text)
        ? 3
        : 0,
  async answer(asked) {
    const { question, facts, projectId } = asked
    const period = askedPeriod(asked, 30)
    const range = coveringRange(period, facts.now)
    const releases = await findReleases(asked)
    if (question.releases.length > 0 && releases.length === 0) return
    const isOwnPeriod = question.period !== null
    for (const release of releases.length === 0 ? [undefined] : releases) {
      const one = release === undefined ? [] : [release]
      if (/crash[- ]?free users/.test(question.text)) await sayUsers(asked, one)
      const series = await readSeries(asked, one, 'sessions', range)
      const rows = series
        .map(({ project, figures }) => ({ project, figures, ...addSessions(figures, period) }))
        .filter(({ sessions }) => sessions > 0)
      const what = `${release === undefined ? ofScope(asked) : ` of ${release.version}`}${filterWords(question)}`
      const when = period.label
      const cite = facts.source(
        `Crash-free sessions${what} ${when}`,
        'readMetrics',
        pathTo('/metrics', { project: projectId ?? rows[0]?.project.id, range }),
        [
          ['What', 'Sessions', 'Crashed', 'Crash-free'],
          ...rows.map(({ project, sessions, crashed }) => [
            project.name,
            count(sessions),
            count(crashed),
            percent(1 - crashed / sessions),
          ]),
          ...totalRow(rows),
          ...rows.flatMap(({ figures, project }) => [
            ...(figures.previous_total === null || isOwnPeriod
              ? []
              : [[`${project.name}, the time before`, '–', '–', percent(1 - figures.previous_total)]]),
            ...findingRow(figures),
            ...daysOf(figures, period).map(({ day, sessions, crashed }) => [
              day,
              count(sessions),
              count(crashed),
              percent(1 - crashed / sessions),
            ]),
          ]),
        ],
      )
      if (rows.length === 0) {
        if (facts.refused.size === 0) asked.say(`There are no sessions${what} ${when}, so the rate is unknown.`)
        continue
      }
      const all = totalOf(rows)
      asked.say(
        `**${cite(percent(1 - all.crashed / all.sessions))} of sessions**${what} were crash-free ${when}: ${cite(count(all.crashed))} of ${cite(count(all.sessions))} ${plural(all.sessions, 'session')} crashed.`,
      )
      if (rows.length > 1)
        for (const { project, sessions, crashed, figures } of rows)
          asked.say(
            `- ${project.name}: ${cite(percent(1 - crashed / sessions))} of ${cite(count(sessions))} ${plural(sessions, 'session')}${beforeText(cite, figures, isOwnPeriod)}`,
          )
      else if (rows[0] !== undefined) sayTrend(asked, cite, rows[0].figures, period, isOwnPeriod)
    }
  },
}

const readSeries = (asked: Asked, releases: readonly Release[], by: 'sessions' | 'users', range: string) =>
  ofReleases(asked, releases, (project, release) =>
    asked.facts.read('readMetrics', Series, {
      query: {
        projectId: project.id,
        metric: 'crash_rate',
        by,
        range,
        ...healthFilters(asked.question, release?.version),
      },
    }),
  )

/** Crash-free users, which are not known of parts of a range. */
async function sayUsers(asked: Asked, releases: readonly Release[]): Promise<void> {
  const { range, label } = askedRange(asked)
  for (const { project, figures, of } of await readSeries(asked, releases, 'users', range)) {
    const { total, basis } = figures
    if (total === null || basis !== 'users') continue
    const what = `of ${of} ${label}`
    const cite = asked.facts.source(
      `Crash-free users ${what}`,
      'readMetrics',
      pathTo('/metrics', { project: project.id, range }),
      [
        ['Project', 'Crash-free users'],
        [project.name, percent(1 - total)],
      ],
    )
    asked.say(`**${cite(percent(1 - total))} of users** ${what} were crash-free.`)
  }
}

const beforeText = (cite: Cite, { previous_total }: Series, isOwnPeriod: boolean): string =>
  previous_total === null || isOwnPeriod ? '' : `, ${cite(percent(1 - previous_total))} in the time before`

type Counted = { readonly sessions: number; readonly crashed: number }

const totalOf = (rows: readonly Counted[]): Counted => ({
  sessions: rows.reduce((sum, { sessions }) => sum + sessions, 0),
  crashed: rows.reduce((sum, { crashed }) => sum + crashed, 0),
})

function totalRow(rows: readonly Counted[]): string[][] {
  if (rows.length < 2) return []
  const { sessions, crashed } = totalOf(rows)
  return [['All', count(sessions), count(crashed), percent(1 - crashed / sessions)]]
}

/** Sessions of a series that started in a period, by whole intervals. */
function addSessions(
  { points }: Series,
  { from, to }: { readonly from: Date; readonly to: Date | null },
): Counted & { readonly anr: number } {
  const inside = points.filter(({ t }) => isIn(t, { from, to }))
  const add = (key: 'sessions' | 'crashed' | 'anr'): number => inside.reduce((sum, point) => sum + (point[key] ?? 0), 0)
  return { sessions: add('sessions'), crashed: add('crashed'), anr: add('anr') }
}

function daysOf({ points }: Series, { from, to }: { readonly from: Date; readonly to: Date | null }) {
  const byDay = Map.groupBy(
    points.filter(({ t }) => isIn(t, { from, to })),
    ({ t }) => t.slice(0, 10),
  )
  if (byDay.size < 2) return []
  return [...byDay].flatMap(([day, of]) => {
    const sessions = of.reduce((sum, point) => sum + (point.sessions ?? 0), 0)
    const crashed = of.reduce((sum, point) => sum + (point.crashed ?? 0), 0)
    return sessions === 0 ? [] : [{ day, sessions, crashed }]
  })
}

function findingRow({ finding }: Series): string[][] {
  const { since, before, after, release } = finding ?? {}
  if (since === undefined || before === undefined || after === undefined) return []
  const cause = typeof release === 'string' ? ` with ${release}` : ''
  return [
    [
      `The crash rate ${finding?.kind} at ${timeText(new Date(since))}${cause}: before, after`,
      '',
      percent(before),
      percent(after),
    ],
  ]
}

function sayTrend({ say }: Asked, cite: Cite, figures: Series, period: Period, isOwnPeriod: boolean): void {
  const { previous_total, total, finding } = figures
  if (previous_total !== null && total !== null && !isOwnPeriod) {
    const now = percent(1 - total)
    const then = percent(1 - previous_total)
    say(
      now === then
        ? `It is the same as in the time before: ${cite(then)}.`
        : `It was ${cite(then)} in the time before: it ${total < previous_total ? 'rose' : 'fell'}.`,
    )
  }
  if (
    finding?.since !== undefined &&
    finding.before !== undefined &&
    finding.after !== undefined &&
    isIn(finding.since, period)
  )
    say(
      `The crash rate ${finding.kind} at ${timeText(new Date(finding.since))} from ${cite(percent(finding.before))} to ${cite(percent(finding.after))}${typeof finding.release === 'string' ? `, when ${quoted(finding.release)} arrived` : ''}.`,
    )
}

const isIn = (t: string, { from, to }: Pick<Period, 'from' | 'to'>): boolean =>
  new Date(t) >= from && (to === null || new Date(t) < to)
