import { sql } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { issueRows, ofOrganisation, ownColumns, type IssueRow } from './issues.queries.ts'

/** Issues of releases. Merged issues count as their merge target. */

/** Maximum of issues that are counted. */
const MAX_COUNTED = 10_000

type IssueCounts = { readonly fresh: number; readonly regressed: number }

/** Counts new and regressed issues of each version of a project. */
export async function countReleaseIssues(
  db: Connection,
  projectId: string,
  versions: readonly string[],
): Promise<Map<string, IssueCounts>> {
  if (versions.length === 0) return new Map()
  const { rows } = await sql<IssueCounts & { version: string }>`
    select k.version,
      (select count(*) from (
        select from issues i where i.project_id = ${projectId} and i.first_release = k.version and i.merged_into is null
        limit ${MAX_COUNTED}) f) as fresh,
      (select count(distinct r.id) from (
        select g.issue_id as id from issue_activity a join issues i on i.id = a.issue_id join issue_groups g on g.id = i.id
        -- The project is filtered before the limit, because many organisations have a version 1.0.0.
        where i.project_id = ${projectId} and a.kind = 'status_changed' and a.data ->> 'to' = 'regressed'
          and a.data ->> 'release' = k.version
        limit ${MAX_COUNTED}) r) as regressed
    from unnest(${[...versions]}::text[]) k (version)`.execute(db)
  return new Map(rows.map((row) => [row.version, row]))
}

/** How an issue relates to a release. */
export type ReleasePart = 'fresh' | 'regressed' | 'resolved'

/** Returns issues of a project that relate to a version, last seen first. */
export async function selectReleaseIssues(
  db: Connection,
  actor: OrgActor,
  { projectId, version, part }: { readonly projectId: string; readonly version: string; readonly part: ReleasePart },
  limit: number,
): Promise<IssueRow[]> {
  const rows = ofOrganisation(db, actor)
    .select(ownColumns)
    .where('i.project_id', '=', projectId)
    .where(conditionOf(part, version))
  return issueRows(db, actor, rows).orderBy('i.last_seen', 'desc').orderBy('i.id', 'desc').limit(limit).execute()
}

function conditionOf(part: ReleasePart, version: string) {
  switch (part) {
    case 'fresh':
      return sql<boolean>`i.first_release = ${version}`
    case 'regressed':
      return sql<boolean>`i.id in (
        select g.issue_id from issue_activity a join issue_groups g on g.id = a.issue_id
        where a.kind = 'status_changed' and a.data ->> 'to' = 'regressed' and a.data ->> 'release' = ${version})`
    case 'resolved':
      // For a fix in several branches, the column has only the first version.
      return sql<boolean>`i.status = 'resolved' and i.resolved_in_release is not null
        and (i.resolved_in_release = ${version} or (i.resolution -> 'versions') ? ${version})`
  }
}
