import { sql } from 'kysely'
import type { DeleteProjectRows } from '../../projects/registry/project-rows.ts'

/** Deletes rules and alerts of a project. */
export const deleteProjectRows: DeleteProjectRows = async (tx, projectId, max) => {
  const alerts = await sql`delete from fired_alerts where id in (
    select id from fired_alerts where project_id = ${projectId} limit ${max})`.execute(tx)
  const minutes = await sql`delete from alert_issue_minutes where ctid in (
    select ctid from alert_issue_minutes where project_id = ${projectId} limit ${max})`.execute(tx)
  const deleted = Number(alerts.numAffectedRows ?? 0n) + Number(minutes.numAffectedRows ?? 0n)
  if (deleted > 0) return deleted
  const rules = await sql`delete from alert_rules where id in (
    select id from alert_rules where project_id = ${projectId} limit ${max})`.execute(tx)
  return Number(rules.numAffectedRows ?? 0n)
}
