import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** Conditions on the assignee of issues (`issues as i`). An issue of a disabled member counts as unassigned. */

/** Only a member can be assigned, so these are all whose issues count as unassigned. */
const aDisabledMember = (orgId: string) =>
  sql`any(array(
    select m.user_id from memberships m join users u on u.id = m.user_id
    where m.org_id = ${orgId} and (m.disabled_at is not null or u.disabled_at is not null)))`

/** No active member is assigned. A team of an ownership rule is not a member. */
export const isUnassigned = (orgId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.assignee_id is null or i.assignee_id = ${aDisabledMember(orgId)})`

/** One of these members is assigned, and active. */
export const isAssignedTo = (orgId: string, userIds: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.assignee_id = any(${[...userIds]}::uuid[]) and not i.assignee_id = ${aDisabledMember(orgId)})`

/** An ownership rule named one of these teams; in any case, with or without a leading #. */
export const isOfTeam = (words: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(ltrim(i.assignee_team, '#')) = any(${words.map((word) => word.toLowerCase())}::text[])`
