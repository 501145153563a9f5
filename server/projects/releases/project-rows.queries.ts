import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** Deletes releases of a project with their commits and deploys. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  const commits = await sql`
    delete from release_commits where (release_id, sha) in (
      select release_id, sha from release_commits where project_id = ${projectId} limit ${max})`.execute(tx)
  const deploys = await sql`
    delete from deploys where id in (select id from deploys where project_id = ${projectId} limit ${max})`.execute(tx)
  const parts = Number(commits.numAffectedRows ?? 0) + Number(deploys.numAffectedRows ?? 0)
  if (parts > 0) return parts
  const releases = await sql`
    delete from releases where id in (select id from releases where project_id = ${projectId} limit ${max})`.execute(tx)
  return Number(releases.numAffectedRows ?? 0)
}
