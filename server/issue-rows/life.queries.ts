import { memberBehind, type Actor } from '../context/actor.ts'
import { lifeColumns } from '../issue-rules/life-columns.ts'
import type { Entry, Life } from '../issue-rules/life-cycle.ts'
import type { Tx } from '../storage/database.ts'

/** Writes life-cycle states and activity, for digestion, jobs and members. */

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

const WRITE_ENTRIES = `
  insert into issue_activity (id, issue_id, kind, actor_id, sentence, data, created_at)
  select k.id, k.issue_id, k.kind, $2::uuid, k.sentence, k.data, coalesce(k.at, $3::timestamptz)
  from jsonb_to_recordset($1::jsonb) k (id uuid, issue_id uuid, kind text, sentence text, data jsonb, at timestamptz)
  on conflict (id) do update set sentence = excluded.sentence, data = excluded.data`

/**
 * Writes entries of the activity. An entry with a known id replaces the earlier one.
 * @param now time of the entries without `at`
 */
export async function writeEntries(
  tx: Tx,
  now: Date,
  actor: Actor,
  entries: readonly (Omit<Entry, 'kind'> & { readonly issueId: string; readonly kind: string; readonly at?: Date })[],
): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(({ issueId, ...entry }) => ({ ...entry, issue_id: issueId }))
  await tx.query(WRITE_ENTRIES, [JSON.stringify(rows), memberBehind(actor)?.userId ?? null, now])
}
