import { newestIssues } from './ownership.queries.ts'
import { setImmediate } from 'node:timers/promises'
import type { z } from 'zod'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { markFrames } from '../grouping/grouping.ts'
import { notFound, rateLimited } from '../kernel/errors.ts'
import { checkOwnershipRules } from './check-ownership-rules.ts'
import { membersAmong } from '../team/members.queries.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { oldestDay } from '../projects/general-settings.ts'
import { ownershipSettings } from './ownership-settings.ts'
import { readProject } from '../projects/projects.queries.ts'
import { chooseEvent } from '../issue-events/choose-event.ts'
import { eventFilter } from '../issue-events/event-filter.ts'
import { groupsOf } from '../issue-rows/groups.queries.ts'
import { openEvent } from '../issue-events/open-event.ts'
import { shortId } from '../issue-rules/issue.ts'
import { viewPerson } from '../issue-rows/view-issue.ts'
import { compileOwnership, type OwnershipMatcher } from './ownership.ts'
import { decidingMatch } from './deciding-match.ts'
import type { ownershipRoutes } from './ownership.api.ts'

export type OwnershipPreview = z.infer<(typeof ownershipRoutes)['previewOwnership']['response']>

const MAX_ISSUES = 50
/** Concurrent previews of this process: each reads up to 50 events. */
const MAX_CONCURRENT = 2

let running = 0

/**
 * Returns the assignees that the rules give to the issues of a project seen last, by the newest event of each.
 * @throws AppError not_found, invalid (a rule names a user who is not a member), rate_limited (too many previews run)
 */
export async function previewOwnership(
  app: App,
  actor: OrgActor,
  projectId: string,
  proposed: readonly OwnershipRule[] | undefined,
): Promise<OwnershipPreview> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const saved = ownershipSettings(project.settings).ownership_rules
  const rules = proposed ?? saved
  await checkOwnershipRules(app.db, actor.orgId, rules, saved)
  if (running >= MAX_CONCURRENT) throw rateLimited('Other previews are running. Try again in a few seconds.', 5)
  running++
  try {
    const members = await membersAmong(
      app.db,
      actor.orgId,
      rules.flatMap(({ user_id: id }) => id ?? []),
    )
    const matcher = compileOwnership(rules)
    const issues: OwnershipPreview['issues'] = []
    for (const row of await newestIssues(app.db, projectId, MAX_ISSUES)) {
      const decided = decidingMatch(await matchesOf(app, projectId, row.id, matcher, project.settings), members)
      const owner = decided === null ? undefined : members.get(decided.rule.user_id ?? '')
      issues.push({
        id: row.id,
        short_id: shortId(project.slug, row.number),
        title: row.title,
        culprit: row.culprit,
        assignee: viewPerson(row.assignee_id, row.name, row.email),
        owner: owner === undefined ? null : { ...owner },
        team: decided?.rule.team ?? null,
        rule: decided === null ? null : rules.indexOf(decided.rule),
        matched: decided?.text.slice(0, 300) ?? null,
      })
      // Other requests may run between two events.
      await setImmediate()
    }
    return { looked_at: issues.length, owned: issues.filter(({ rule }) => rule !== null).length, issues }
  } finally {
    running--
  }
}

/** Returns no matches if there are no rules, or the event was deleted or is unreadable. */
async function matchesOf(
  app: App,
  projectId: string,
  issueId: string,
  matcher: OwnershipMatcher | null,
  stored: unknown,
) {
  if (matcher === null) return []
  const sources = { issueIds: await groupsOf(app.db, [issueId]), oldestDay: oldestDay(stored, app.clock.now()) }
  const chosen = await chooseEvent(app, { projectId, sources, filter: eventFilter(projectId, {}) }, 'latest')
  const event = chosen === null ? null : openEvent(app, chosen)
  // Stack rules decide which frames are in-app.
  return event === null ? [] : matcher(markFrames(event, groupingSettings(stored).grouping_rules))()
}
