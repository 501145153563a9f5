import { sql } from 'kysely'
import type { OrgActor } from '../context/actor.ts'
import type { Connection } from '../storage/database.ts'
import { issueColumns, type IssueRow } from '../issue-rows/issues.queries.ts'

/** Candidates of similar issues. */

/** The search looks at this many issues of the project, last seen first. */
const MAX_LOOKED_AT = 2_000
const MAX_CANDIDATES = 300

export type Candidate = Pick<IssueRow, 'id' | 'title' | 'culprit' | 'error_type'>

/**
 * Returns issues of the same project that have the same error type, the same culprit or one of the words in their title,
 * last seen first.
 * @param words of letters and digits only, in lower case
 */
export async function selectCandidates(
  db: Connection,
  issue: Pick<IssueRow, 'id' | 'project_id' | 'culprit' | 'error_type'>,
  words: readonly string[],
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select id, title, culprit, error_type from (
      select id, title, culprit, error_type from issues
      where project_id = ${issue.project_id} and merged_into is null
      order by seen_slot desc limit ${MAX_LOOKED_AT}) i
    where id <> ${issue.id}
      and (error_type = ${issue.error_type} or culprit = nullif(${issue.culprit}, '')
        or title ~* nullif(${words.join('|')}, ''))
    limit ${MAX_CANDIDATES}`.execute(db)
  return rows
}

/** Returns issues of the organisation by id, without order. */
export function selectIssuesById(db: Connection, actor: OrgActor, ids: readonly string[]): Promise<IssueRow[]> {
  return db
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'i.assignee_id').onRef('m.org_id', '=', 'i.org_id').on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'm.user_id').on('u.disabled_at', 'is', null))
    .select(issueColumns)
    .where('i.org_id', '=', actor.orgId)
    .where('i.id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute()
}
