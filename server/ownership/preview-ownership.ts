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
import { sourceIds } from '../issue-events/sources.queries.ts'
import { openEvent } from '../issue-events/open-event.ts'
import { shortId } from '../issue-rules/issue.ts'
import { viewPerson } from '../issue-rows/view-issue.ts'
import { compileOwnership, type OwnershipBook } from './ownership.ts'
import { ownerAmong } from './owner-among.ts'
import type { ownershipRoutes } from './ownership.api.ts'

export type OwnershipPreview = z.infer<(typeof ownershipRoutes)['previewOwnership']['response']>

const MAX_ISSUES = 50
/** Reading fifty events takes a while of this process. */
const MAX_AT_ONCE = 2

let running = 0

/**
 * Who would own the issues of a project that were seen last, judged by the newest event of each.
 * @throws AppError not_found, invalid (a person who is no member), rate_limited (others are at it)
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
  if (running >= MAX_AT_ONCE) throw rateLimited('Other previews are being made. Try again in a few seconds.', 5)
  running++
  try {
    const members = await membersAmong(
      app.db,
      actor.orgId,
      rules.flatMap(({ user_id: id }) => id ?? []),
    )
    const book = compileOwnership(rules)
    const issues: OwnershipPreview['issues'] = []
    for (const row of await newestIssues(app.db, projectId, MAX_ISSUES)) {
      const decided = ownerAmong(await candidatesOf(app, projectId, row.id, book, project.settings), members)
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
      // Between two events other requests have their turn.
      await setImmediate()
    }
    return { looked_at: issues.length, owned: issues.filter(({ rule }) => rule !== null).length, issues }
  } finally {
    running--
  }
}

/** None where there is no rule, or the event is gone or cannot be read any more. */
async function candidatesOf(app: App, projectId: string, issueId: string, book: OwnershipBook | null, stored: unknown) {
  if (book === null) return []
  const sources = { issueIds: await sourceIds(app.db, issueId), oldestDay: oldestDay(stored, app.clock.now()) }
  const chosen = await chooseEvent(app, { projectId, sources, filter: eventFilter(projectId, {}) }, 'latest')
  const event = chosen === null ? null : openEvent(app, chosen)
  // Stack rules say which frames are of the app.
  return event === null ? [] : book(markFrames(event, groupingSettings(stored).grouping_rules))()
}
