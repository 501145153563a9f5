import { ofScope, askedPeriod, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { totalText } from '../list-issues.ts'
import { Alert, page } from '../shapes.ts'
import { timeText } from '../time-words.ts'
import { count, plural, quoted } from '../question.ts'

/** "Which alerts fired today?" */
export const alerts: Intent = {
  name: 'alerts',
  fits: ({ text }) =>
    /\balerts?\b|\balarms?\b|\bfired\b|\bfiring\b|\bpaged\b|\bpages? (?:sent|went)|notified|incidents?|warned/.test(
      text,
    )
      ? 8
      : 0,
  async answer(asked) {
    const { facts, say, question, projectId } = asked
    const isFiring =
      /firing|\bopen\b|\bactive\b|\bcurrent|still|right now|ongoing|unacknowledged/.test(question.text) &&
      question.period === null
    const period = askedPeriod(asked)
    const found = await facts.read('listFiredAlerts', page(Alert), {
      query: {
        ...(projectId === null ? {} : { projectId }),
        limit: String(question.limit ?? 10),
        ...(isFiring
          ? { state: 'firing' }
          : { from: period.from.toISOString(), ...(period.to === null ? {} : { to: period.to.toISOString() }) }),
      },
    })
    if (found === null) return
    const when = isFiring ? 'and are firing now' : period.label
    const cite = facts.source(
      `Alerts${ofScope(asked)} that fired ${when}`,
      'listFiredAlerts',
      pathTo('/alerts/history', { project: projectId }),
      [
        ['Alert', 'Rule', 'Project', 'Severity', 'State', 'Fired', 'Alerts'],
        ...found.items.map((one) => [
          one.title,
          one.rule_name,
          one.project.name,
          one.severity,
          one.state,
          timeText(new Date(one.fired_at)),
        ]),
        ['All', '', '', '', '', '', count(found.total)],
      ],
    )
    say(
      `**${cite(totalText(found.total, found.total_capped))} ${plural(found.total, 'alert')}**${ofScope(asked)} fired ${when}${found.total === 0 ? '.' : ':'}`,
    )
    for (const one of found.items)
      say(
        `- ${quoted(one.title)} of the rule ${quoted(one.rule_name)} at ${timeText(new Date(one.fired_at))}, ${one.state}`,
      )
  },
}
