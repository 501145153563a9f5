import type { Asked, Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findIssue } from '../find-issue.ts'
import { IssueReleases } from '../shapes.ts'
import { timeText } from '../time-words.ts'
import { count, plural, quoted } from '../question.ts'

const SHARED = ['device', 'device.model', 'os', 'os.name', 'browser', 'environment', 'release']

/** "What is SHOP-3?", "When was SHOP-3 first seen?", "Which releases and devices have it?" */
export const issue: Intent = {
  name: 'issue',
  fixedTime: 'of all time',
  fits: (question) => (question.issue === null ? 0 : 6),
  async answer(asked) {
    const found = await findIssue(asked)
    if (found === null) return sayMissingIssue(asked)
    const releases = await asked.facts.read('listIssueReleases', IssueReleases, { params: { issueId: found.id } })
    const tags = found.tag_distribution.filter(({ key }) => SHARED.includes(key))
    const [error] = found.event?.exceptions.slice(-1) ?? []
    const frames = (error?.stacktrace?.frames ?? [])
      .filter(({ in_app }) => in_app)
      .slice(-5)
      .reverse()
    const cite = asked.facts.source(`Issue ${found.short_id}`, 'readIssue', pathTo(`/issues/${found.id}`), [
      ['What', 'Text', 'Events', 'Users', 'Of events'],
      ['Title', found.title],
      ['Status', found.status],
      ['Severity', found.severity],
      ['All', '', count(found.event_count), count(found.user_count)],
      ['First seen', `${timeText(new Date(found.first_seen))}, in ${found.first_release ?? 'no release'}`],
      ['Last seen', `${timeText(new Date(found.last_seen))}, in ${found.last_release ?? 'no release'}`],
      ...frames.map((frame, index) => [index === 0 ? 'Failed in' : 'Called by', frameText(frame)]),
      ...(found.event?.breadcrumbs ?? [])
        .slice(-5)
        .map(({ category, message }) => ['Before it', `${category ?? ''} ${message ?? ''}`]),
      ...tags.flatMap(({ key, total, values }) =>
        values.slice(0, 3).map(({ value, count: n }) => [key, value, count(n), '', count(total)]),
      ),
      ...(releases?.items ?? [])
        .slice(0, 5)
        .map(({ release, events }) => ['Release', release ?? 'none', count(events)]),
    ])
    asked.say(
      `${found.short_id} ${quoted(found.title)} is ${found.status}, of ${found.severity} severity: **${cite(count(found.event_count))} ${plural(found.event_count, 'event')}** of ${cite(count(found.user_count))} ${plural(found.user_count, 'user')}.`,
    )
    asked.say(
      `- First seen ${timeText(new Date(found.first_seen))} in ${quoted(found.first_release ?? 'no release')}, last seen ${timeText(new Date(found.last_seen))} in ${quoted(found.last_release ?? 'no release')}`,
    )
    const [frame] = frames
    if (frame !== undefined) asked.say(`- It fails in ${quoted(frameText(frame))}`)
    for (const { key, total, values } of tags) {
      const [top] = values
      if (top !== undefined)
        asked.say(
          `- ${key}: mostly ${quoted(top.value)}, ${cite(count(top.count))} of ${cite(count(total))} ${plural(total, 'event')}`,
        )
    }
    const most = (releases?.items ?? []).toSorted((a, b) => b.events - a.events)[0]
    if (most !== undefined && most.release !== null)
      asked.say(`- Most of its stored events are of ${quoted(most.release)}: ${cite(count(most.events))}`)
    asked.say(found.assignee === null ? '- It is not assigned' : `- Assigned to ${quoted(found.assignee.name)}`)
  },
}

type Frame = { readonly function: string | null; readonly filename: string | null; readonly lineno: number | null }

const frameText = (frame: Frame): string => `${frame.function ?? '?'} (${frame.filename ?? '?'}:${frame.lineno ?? '?'})`

/** Nothing was found under the id: says so, unless the caller may not read issues. */
export function sayMissingIssue({ question, say, facts }: Asked): void {
  if (facts.refused.size === 0) say(`There is no issue ${question.issue ?? ''} here.`)
}
