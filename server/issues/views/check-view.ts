import { memberBehind, requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import { conflict, forbidden, invalid } from '../../platform/kernel/errors.ts'
import { roleAtLeast } from '#shared/permissions.ts'
import { IssueSort } from '../rules/issue.api.ts'
import { countProjectsAmong } from '../../projects/registry/projects.queries.ts'
import { countMembersAmong } from '../../identity/team/members.queries.ts'
import { compileQuery } from '../search/compile-query.queries.ts'
import { parseQuery } from '../search/parse-query.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { type IssueView, MAX_OWN_VIEWS, MAX_SHARED_VIEWS, ViewFilters } from './views.api.ts'
import { countForLimit, type ViewRow } from './views.queries.ts'

/** The parts of a saved view that can be invalid. */
type ViewDraft = { readonly query?: string | undefined; readonly filters?: ViewFilters | undefined }

/**
 * Checks that the query is valid and that projects and assignees belong to the organisation.
 * @throws AppError invalid, which names the field
 */
export async function checkDraft(tx: Tx, actor: OrgActor, now: Date, { query, filters }: ViewDraft): Promise<void> {
  if (query !== undefined) await compileQuery(tx, actor, parseQuery(query, 'query'), now, 'query')
  const projects = new Set(filters?.projectId)
  if (projects.size > 0 && (await countProjectsAmong(tx, actor.orgId, [...projects])) < projects.size)
    throw invalid('filters.projectId names a project that is not in this organisation.')
  const userIds = new Set(filters?.assignee_id?.filter((id) => id !== 'me' && id !== 'none'))
  if (userIds.size === 0) return
  if ((await countMembersAmong(tx, actor.orgId, [...userIds])) < userIds.size)
    throw invalid('filters.assignee_id names a user who is not a member of this organisation.')
}

/**
 * Checks that the limit permits one more view.
 * @throws AppError forbidden (a viewer shares a view), conflict (too many)
 */
export async function requireRoom(tx: Tx, actor: OrgActor, isShared: boolean): Promise<void> {
  if (isShared && !roleAtLeast(requireActingMember(actor).role, 'member'))
    throw forbidden('Sharing a view needs the role member. You can save it for yourself.')
  const max = isShared ? MAX_SHARED_VIEWS : MAX_OWN_VIEWS
  if ((await countForLimit(tx, actor, isShared)) >= max)
    throw conflict(
      isShared
        ? `The organisation has ${max} shared views, the maximum. Delete one first.`
        : `You have ${max} views, the maximum. Delete one first.`,
    )
}

/** Members change their own views, admins all shared ones. */
export function mayChange(actor: OrgActor, view: { created_by: string | null; is_shared: boolean }): boolean {
  const member = memberBehind(actor)
  if (member === null) return false
  return view.created_by === member.userId || (view.is_shared && roleAtLeast(member.role, 'admin'))
}

export const toIssueView = (actor: OrgActor, row: ViewRow): IssueView => ({
  id: row.id,
  name: row.name,
  query: row.query,
  sort: IssueSort.parse(row.sort),
  filters: ViewFilters.parse(row.filters),
  is_shared: row.is_shared,
  owner:
    row.created_by === null || row.owner_name === null || row.owner_email === null
      ? null
      : { id: row.created_by, name: row.owner_name, email: row.owner_email },
  can_change: mayChange(actor, row),
  position: row.position,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
