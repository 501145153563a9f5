import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

export const MONITOR_PARTS = [projectPart(2_000, [ownRows('check_ins')]), projectPart(2_000, [ownRows('monitors')])]

/** Deletes runs of a project's jobs before a day. @returns number deleted */
export async function deleteRuns(on: Connection, projectId: string, day: string, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from check_ins where (monitor_id, id) in (
      select monitor_id, id from check_ins where project_id = ${projectId} and received_at < ${`${day}T00:00:00Z`}::timestamptz
      limit ${max} for update skip locked
    )`.execute(on)
  return Number(numAffectedRows ?? 0)
}

/** Deletes monitors without runs whose last check-in was before a day: their number is limited. */
export async function deleteIdleMonitors(on: Connection, projectId: string, day: string): Promise<void> {
  await sql`
    delete from monitors m where m.project_id = ${projectId} and m.last_check_in_at < ${`${day}T00:00:00Z`}::timestamptz
      and not exists (select from check_ins c where c.monitor_id = m.id)`.execute(on)
}
