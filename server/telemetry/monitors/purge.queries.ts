import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

export const CHECK_IN_ROWS = ownRows('check_ins')
export const MONITOR_PARTS = [projectPart(2_000, [CHECK_IN_ROWS]), projectPart(2_000, [ownRows('monitors')])]

/** Deletes monitors without runs whose last check-in was before a day: their number is limited. */
export async function deleteIdleMonitors(on: Connection, projectId: string, day: string): Promise<void> {
  await sql`
    delete from monitors m where m.project_id = ${projectId} and m.last_check_in_at < ${`${day}T00:00:00Z`}::timestamptz
      and not exists (select from check_ins c where c.monitor_id = m.id)`.execute(on)
}
