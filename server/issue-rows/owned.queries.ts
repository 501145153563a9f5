import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** Whom issues (`issues as i`) belong to. Whoever left the organisation owns nothing any more, whatever the row says. */

const gone = (orgId: string) =>
  sql`any(array(select id from users where org_id = ${orgId} and disabled_at is not null))`

/** Nobody is assigned who is still there; a team's word is nobody. */
export const isUnassigned = (orgId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.assignee_id is null or i.assignee_id = ${gone(orgId)})`

/** One of these is assigned, and still there. */
export const isAssignedTo = (orgId: string, userIds: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.assignee_id = any(${[...userIds]}::uuid[]) and not i.assignee_id = ${gone(orgId)})`

/** An ownership rule named one of these teams; in any case, with or without a leading #. */
export const isOfTeam = (words: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(ltrim(i.owner_team, '#')) = any(${words.map((word) => word.toLowerCase())}::text[])`
