import { filterWords, issueTerms, ofScope, askedPeriod, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { issueRows, listIssues, sayIssues } from '../list-issues.ts'
import { Alert, Markers, page, Volume } from '../shapes.ts'
import { timeText } from '../time-words.ts'
import { count, plural, quoted } from '../question.ts'
import { HOUR_MS } from '../../../platform/kernel/day.ts'

/** How long before a peak its causes are looked for. */
const BEFORE_MS = 24 * HOUR_MS

/** "What changed before the spike?" */
export const spike: Intent = {
  name: 'spike',
  takesTerms: true,
  fits: ({ text }) =>
    /spik(?:e|es|ing)\b|\bsurge|\bburst|sudden|\bpeak|what changed|\bjump(?:ed|s)?\b|shot up|went up|going up|more (?:crashes|errors|events) than|why (?:are|is|did|do) .*(?:more|increas|ris|rose|up\b|high)|increase(?:d)? in|explod|anomal|unusual/.test(
      text,
    )
      ? 7
      : 0,
  async answer(asked) {
    const { question, facts, say, projectId } = asked
    const period = askedPeriod(asked)
    const project = projectId === null ? {} : { projectId: [projectId] }
    const volume = await facts.read('readVolume', Volume, {
      query: {
        ...project,
        q: issueTerms(question).join(' '),
        from: period.from.toISOString(),
        ...(period.to === null ? {} : { to: period.to.toISOString() }),
      },
    })
    if (volume === null) return
    const peak = volume.points.reduce<(typeof volume.points)[number] | null>(
      (most, one) => (one.events > (most?.events ?? 0) ? one : most),
      null,
    )
    if (peak === null) return say(`There were no events${ofScope(asked)}${filterWords(question)} ${period.label}.`)
    const usual = median(volume.points.map(({ events }) => events))
    const at = new Date(peak.t)
    const end = new Date(at.getTime() + volume.interval_seconds * 1000)
    const cite = facts.source(
      `Events${ofScope(asked)}${filterWords(question)} ${period.label}`,
      'readVolume',
      pathTo('/issues', { project: projectId }),
      [
        ['Time', 'Events'],
        [`Peak: ${timeText(at)}`, count(peak.events)],
        ['Median interval', count(usual)],
        ['Minutes of an interval', count(volume.interval_seconds / 60)],
        ['All', count(volume.total)],
      ],
    )
    say(
      `The most events${ofScope(asked)}${filterWords(question)} ${period.label} came at ${timeText(at)}: **${cite(count(peak.events))}** in ${cite(count(volume.interval_seconds / 60))} minutes, the median is ${cite(count(usual))}.`,
    )
    const from = new Date(at.getTime() - BEFORE_MS)
    const around = { from: from.toISOString(), to: end.toISOString() }
    const most = await listIssues(asked, {
      sort: '-event_count_in_range',
      period: { from: at, to: end, label: '' },
      limit: 3,
    })
    const inPeak = (most?.items ?? []).filter(({ event_count_in_range }) => (event_count_in_range ?? 0) > 0)
    if (inPeak.length > 0) {
      const citeIssues = facts.source(
        `Issues with events at ${timeText(at)}`,
        'listIssues',
        pathTo('/issues', { project: projectId }),
        issueRows(inPeak),
      )
      say('Issues with most of these events:')
      sayIssues(say, citeIssues, inPeak)
    }
    const [releases, fresh, alerts] = await Promise.all([
      facts.read('listReleaseMarkers', Markers, { query: { ...project, ...around } }),
      listIssues(asked, {
        sort: '-event_count',
        terms: [`first_seen:>=${around.from}`, `first_seen:<${around.to}`],
        limit: 5,
      }),
      facts.read('listFiredAlerts', page(Alert), {
        query: { ...(projectId === null ? {} : { projectId }), ...around, limit: '5' },
      }),
    ])
    const changes = [
      ...(releases?.items ?? []).map(({ version, at: when }) => ['Release', version, timeText(new Date(when))]),
      ...(fresh?.items ?? []).map(({ short_id, title, first_seen }) => [
        'New issue',
        `${short_id} ${title}`,
        timeText(new Date(first_seen)),
      ]),
      ...(alerts?.items ?? []).map(({ title, fired_at }) => ['Alert', title, timeText(new Date(fired_at))]),
    ]
    const hours = BEFORE_MS / HOUR_MS
    const citeChanges = facts.source(
      `What changed in the ${hours} hours before it`,
      'listReleaseMarkers',
      pathTo('/releases', { project: projectId }),
      [['What', 'Name', 'When'], ...changes, ['All', '', `${changes.length}`]],
    )
    say(
      changes.length === 0
        ? `No release, new issue or alert is known of the ${hours} hours before.`
        : `${citeChanges(count(changes.length))} ${plural(changes.length, 'change')} in the ${hours} hours before:`,
    )
    for (const [what = '', name = '', when = ''] of changes) say(`- ${what}: ${quoted(name)} at ${when}`)
  },
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}
