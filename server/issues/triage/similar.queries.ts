import { sql } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { issueRows, ofOrganisation, ownColumns, type IssueRow } from '../rows/issues.queries.ts'

/** Candidates of similar issues. */

/** The search looks at this many issues of the project, last seen first. */
const MAX_LOOKED_AT = 2_000
const MAX_CANDIDATES = 300

export type Candidate = Pick<IssueRow, 'id' | 'title' | 'culprit' | 'error_type'>

/**
 * Returns issues of the same project that have the same error type, the same culprit or some of the words in their title,
 * first those with the most of these, by the weights of `list-similar.ts`.
 * @param words of letters and digits only, in lower case; at most four
 */
export async function selectCandidates(
  db: Connection,
  issue: Pick<IssueRow, 'id' | 'project_id' | 'culprit' | 'error_type'>,
  words: readonly string[],
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select id, title, culprit, error_type from (
      select id, title, culprit, error_type, seen_slot from issues
      where project_id = ${issue.project_id} and merged_into is null
      order by seen_slot desc limit ${MAX_LOOKED_AT}) i,
      lateral (select case when error_type = ${issue.error_type} then 3 else 0 end
        + case when culprit = nullif(${issue.culprit}, '') then 3 else 0 end
        + (select count(*) from unnest(${[...words]}::text[]) w where strpos(lower(title), w) > 0) as common) c
    where id <> ${issue.id} and common > 0
    order by common desc, seen_slot desc limit ${MAX_CANDIDATES}`.execute(db)
  return rows
}

/** Returns issues of the organisation by id, without order. */
export const selectIssuesById = (db: Connection, actor: OrgActor, ids: readonly string[]): Promise<IssueRow[]> =>
  issueRows(
    db,
    actor,
    ofOrganisation(db, actor)
      .select(ownColumns)
      .where('i.id', '=', sql<string>`any(${[...ids]}::uuid[])`),
  ).execute()
