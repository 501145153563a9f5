import type { Tx } from '../../platform/storage/database.ts'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import type { EscalatingRules } from '../rules/issue-settings.api.ts'
import { StoredEscalating } from '../rules/issue-settings.ts'
import { HISTORY_MS, type HourHistory } from '../rules/escalating.ts'
import type { HourKey } from './fold.queries.ts'

/** SQL of transitions by events: at most one statement of each kind per batch, only when one of its issues needs it. */

export type FoundHistory = HourKey & { readonly history: HourHistory; readonly rules: EscalatingRules }

/** Statistics of the hours before, and the project's rules. Reads at most 336 rows for each issue, once an hour. */
export async function hourHistories(tx: Tx, hours: readonly HourKey[]): Promise<FoundHistory[]> {
  const { rows } = await tx.query<{
    id: string
    hour: Date
    first_seen: Date
    rules: unknown
    busy: number
    sum: number
    squares: number
    largest: number
    median: number
  }>({
    name: 'record-hour-histories',
    text: `select k.id, k.hour, i.first_seen, p.settings -> 'escalating' as rules, count(h.hour)::int as busy,
             coalesce(sum(h.events), 0)::float8 as sum, coalesce(sum(h.events::float8 * h.events), 0) as squares,
             coalesce(max(h.events), 0) as largest,
             coalesce(percentile_cont(0.5) within group (order by h.events), 0) as median
           from unnest($1::uuid[], $2::timestamptz[]) k (id, hour)
           join issues i on i.id = k.id join projects p on p.id = i.project_id
           left join lateral (
             select h.hour, sum(h.events)::int as events from issue_groups g join issue_hours h on h.group_id = g.id
             where g.issue_id = k.id and h.hour < k.hour and h.hour >= k.hour - make_interval(secs => $3) group by h.hour
           ) h on true
           group by k.id, k.hour, i.id, p.id`,
    values: [hours.map((hour) => hour.id), hours.map((hour) => hour.at), HISTORY_MS / 1000],
  })
  return rows.map((row) => ({
    id: row.id,
    at: row.hour,
    rules: StoredEscalating.parse(row.rules),
    history: {
      hour: row.hour,
      firstSeen: row.first_seen,
      busyHours: row.busy,
      sum: row.sum,
      sumOfSquares: row.squares,
      largest: row.largest,
      busyMedian: row.median,
    },
  }))
}

/** Stores limits with the issues, for the rest of their hour. */
export async function storeLimits(tx: Tx, limits: readonly (HourKey & { readonly limit: number })[]): Promise<void> {
  await tx.query({
    name: 'record-store-limits',
    text: `update issues i set hourly_limit = k.hourly_limit, limit_hour = k.hour
           from unnest($1::uuid[], $2::timestamptz[], $3::int[]) k (id, hour, hourly_limit) where i.id = k.id`,
    values: [limits.map((one) => one.id), limits.map((one) => one.at), limits.map((one) => one.limit)],
  })
}

export type ReleaseKey = { readonly projectId: string; readonly version: string }

/** Facts of existing releases, by project and version. */
export async function releaseFacts(
  tx: Tx,
  keys: readonly ReleaseKey[],
): Promise<Map<string, Map<string, ReleaseFacts>>> {
  const { rows } = await tx.query<{
    project_id: string
    version: string
    released_at: Date | null
    created_at: Date
    first_seen_at: Date | null
  }>({
    name: 'record-release-facts',
    text: `select r.project_id, r.version, r.released_at, r.created_at, r.first_seen_at
           from unnest($1::uuid[], $2::text[]) k (project_id, version)
           join releases r on r.project_id = k.project_id and r.version = k.version`,
    values: [keys.map((key) => key.projectId), keys.map((key) => key.version)],
  })
  const byProject = new Map<string, Map<string, ReleaseFacts>>()
  for (const row of rows) {
    const byVersion = byProject.get(row.project_id) ?? new Map<string, ReleaseFacts>()
    byProject.set(row.project_id, byVersion)
    byVersion.set(row.version, {
      version: row.version,
      releasedAt: row.released_at,
      createdAt: row.created_at,
      firstSeenAt: row.first_seen_at,
    })
  }
  return byProject
}
