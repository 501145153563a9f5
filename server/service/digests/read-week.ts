import { readOverview } from '../../insights/metrics/read-overview.ts'
import { readQuota } from '../../ingest/outcomes/read-intake.ts'
import { listIssues } from '../../issues/search/list-issues.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { listProjects } from '../../projects/registry/view-project.ts'
import type { ProjectWeek } from './digest-mail.ts'

/** Projects of one digest: the busiest of them. */
const MAX_PROJECTS = 20
const ISSUES_PER_PROJECT = 3

/** The last seven days of an organisation's projects, as their pages show them; those with the most events first. */
export async function readWeek(app: App, actor: OrgActor, signal: AbortSignal): Promise<ProjectWeek[]> {
  const { items } = await listProjects(app, actor, { limit: 100, offset: 0, sort: 'name' })
  const weeks: ProjectWeek[] = []
  for (const { id, name } of items.toSorted((a, b) => b.events_24h - a.events_24h).slice(0, MAX_PROJECTS)) {
    signal.throwIfAborted()
    const range = '7d'
    const [overview, issues] = await Promise.all([
      readOverview(app, actor, { projectId: id, range }, readQuota),
      listIssues(app, actor, { projectId: [id], range, sort: '-event_count', limit: ISSUES_PER_PROJECT, offset: 0 }),
    ])
    const { crash_rate: crash, event_count: events } = overview.cards
    const isOfSessions = crash.basis === 'sessions'
    weeks.push({
      id,
      name,
      newIssues: overview.issues.new,
      regressed: overview.issues.regressed,
      events: events.value ?? 0,
      eventsBefore: events.previous,
      crashFree: isOfSessions && crash.value !== null ? 1 - crash.value : null,
      crashFreeBefore: isOfSessions && crash.previous !== null ? 1 - crash.previous : null,
      issues: issues.items.flatMap((issue) =>
        (issue.event_count_in_range ?? 0) === 0
          ? []
          : [{ id: issue.id, shortId: issue.short_id, title: issue.title, events: issue.event_count_in_range ?? 0 }],
      ),
    })
  }
  return weeks.toSorted((a, b) => b.events - a.events)
}
