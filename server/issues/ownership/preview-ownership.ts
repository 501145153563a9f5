import { newestIssues } from './ownership.queries.ts'
import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { membersAmong } from '../../identity/team/members.queries.ts'
import type { OwnershipRule } from './ownership-rules.api.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { ownershipSettings } from './ownership-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { chooseEvent } from '../issue-events/choose-event.ts'
import { eventFilter } from '../issue-events/event-filter.ts'
import { selectGroupIds } from '../rows/groups.queries.ts'
import { inPreviewThread, visitInThread } from '../issue-events/preview-events.ts'
import { shortId } from '#shared/issue-values.ts'
import { viewPerson } from '../rows/view-issue.ts'
import type { OwnershipMatches, OwnershipStart } from './ownership-thread.ts'
import { decidingMatch, checkOwnershipRules } from './ownership.ts'
import type { ownershipRoutes } from './ownership.api.ts'

type OwnershipPreview = z.infer<(typeof ownershipRoutes)['previewOwnership']['response']>

const MAX_ISSUES = 50
const TIME_LIMIT_MS = 8_000

/**
 * Returns the assignees that the rules give to the issues of a project seen last, by the newest event of each.
 * @throws AppError not_found, invalid (a rule names a user who is not a member), rate_limited (too many previews run),
 * unavailable (it takes too long)
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
  const members = await membersAmong(
    app.db,
    actor.orgId,
    rules.flatMap(({ user_id: id }) => id ?? []),
  )
  const rows = await newestIssues(app.db, projectId, MAX_ISSUES)
  const matches = await matchesOf(app, { orgId: actor.orgId, projectId }, rows, rules, project.settings)
  const issues = rows.map((row): OwnershipPreview['issues'][number] => {
    const found = (matches.get(row.id) ?? []).flatMap(({ rule: index, text }) => {
      const rule = rules[index]
      return rule === undefined ? [] : [{ rule, text }]
    })
    const decided = decidingMatch(found, members)
    const owner = decided === null ? undefined : members.get(decided.rule.user_id ?? '')
    return {
      id: row.id,
      short_id: shortId(project.slug, row.number),
      title: row.title,
      culprit: row.culprit,
      assignee: viewPerson(row.assignee_id, row.name, row.email),
      owner: owner === undefined ? null : { ...owner },
      team: decided?.rule.team ?? null,
      rule: decided === null ? null : rules.indexOf(decided.rule),
      matched: decided?.text ?? null,
    }
  })
  return { looked_at: issues.length, owned: issues.filter(({ rule }) => rule !== null).length, issues }
}

/** The matches of the newest event of each issue; none if there are no rules, or it was deleted or is unreadable. */
async function matchesOf(
  app: App,
  { orgId, projectId }: { readonly orgId: string; readonly projectId: string },
  issues: readonly { readonly id: string }[],
  rules: readonly OwnershipRule[],
  stored: unknown,
): Promise<OwnershipMatches> {
  if (rules.length === 0) return new Map()
  const file = new URL('./ownership-thread.ts', import.meta.url)
  return inPreviewThread<OwnershipStart, OwnershipMatches, OwnershipMatches>(
    orgId,
    file,
    { timeLimitMs: TIME_LIMIT_MS },
    async (ask) => {
      await ask({ start: { rules, groupingRules: groupingSettings(stored).grouping_rules } })
      for (const { id } of issues) {
        const sources = { issueIds: await selectGroupIds(app.db, [id]), oldestDay: oldestDay(stored, app.clock.now()) }
        const chosen = await chooseEvent(app, { projectId, sources, filter: eventFilter(projectId, {}) }, 'latest')
        if (chosen !== null) await visitInThread(app, ask, [{ stored: chosen, place: { issueId: id } }])
      }
      return (await ask({ end: true })).result ?? new Map()
    },
  )
}
