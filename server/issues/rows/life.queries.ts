import { lifeColumns } from '../rules/life-columns.ts'
import type { Life } from '../rules/life-cycle.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** Writes life-cycle states, for digestion, jobs and members. */

const WRITE_LIVES = `
  update issues i set status = k.status, status_reason = k.status_reason, status_changed_at = k.status_changed_at,
    open_since = k.open_since, resolved_at = k.resolved_at, resolved_in_release = k.resolved_in_release,
    resolution = k.resolution, pending_commit = k.pending_commit, ignore_until = k.ignore_until,
    ignore_progress = k.ignore_progress, unignore_at = k.unignore_at, escalated_at = k.escalated_at, over_limit_at = k.over_limit_at,
    severity = coalesce(k.severity, i.severity)
  from jsonb_to_recordset($1::jsonb) k (id uuid, status text, status_reason text, status_changed_at timestamptz,
    open_since timestamptz, resolved_at timestamptz, resolved_in_release text, resolution jsonb, pending_commit text,
    ignore_until jsonb, ignore_progress jsonb, unignore_at timestamptz, escalated_at timestamptz, over_limit_at timestamptz,
    severity smallint)
  where i.id = k.id`

export type MovedIssue = {
  readonly id: string
  readonly life: Life
  /** Rank; null does not change it. */
  readonly severity: number | null
}

/** Writes the life-cycle states of locked issues. */
export async function writeLives(tx: Tx, issues: readonly MovedIssue[]): Promise<void> {
  if (issues.length === 0) return
  const rows = issues.map(({ id, life, severity }) => ({ id, severity, ...lifeColumns(life) }))
  await tx.query(WRITE_LIVES, [JSON.stringify(rows)])
}

/** Sets the assignees of new issues. */
export async function setAssignees(
  tx: Tx,
  issues: readonly { readonly issueId: string; readonly userId: string | null; readonly team: string | null }[],
): Promise<void> {
  await tx.query(
    `update issues i set assignee_id = k.user_id, assignee_team = k.team
     from jsonb_to_recordset($1::jsonb) k (id uuid, user_id uuid, team text) where i.id = k.id`,
    [JSON.stringify(issues.map(({ issueId, userId, team }) => ({ id: issueId, user_id: userId, team })))],
  )
}

/** Writes columns of issues, as they were before a change. */
export async function restoreColumns(
  tx: Tx,
  columns: readonly string[],
  issues: readonly { readonly id: string }[],
): Promise<void> {
  const set = columns.map((column) => `${column} = r.${column}`).join(', ')
  await tx.query(
    `update issues i set ${set} from jsonb_populate_recordset(null::issues, $1::jsonb) r where i.id = r.id`,
    [JSON.stringify(issues)],
  )
}
