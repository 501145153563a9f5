import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import type { TraceSummary } from './summarise-trace.ts'

/** SQL of the rows that the list of traces reads. The caller holds the lock. */

export const TRACE_ROWS = ownRows('traces')

/** Traces whose row is missing or older than their parts, newest first, by organisation. */
export async function staleTraces(tx: Tx, max: number): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ org_id: string; trace_id: string }>(
    `select org_id, trace_id from (
       (select org_id, trace_id, null::timestamptz as newest from traces where is_stale limit $1)
       union all
       (select j.org_id, p.trace_id, max(p.received_at) as newest from trace_parts p
        join projects j on j.id = p.project_id
        left join traces t on t.org_id = j.org_id and t.trace_id = p.trace_id
        where p.keep = 0 and (t.trace_id is null or not t.is_stale and t.summarised_to < p.received_at)
        group by j.org_id, p.trace_id order by newest desc limit $1)) s
     order by newest desc nulls first limit $1`,
    [max],
  )
  const byOrg = new Map<string, string[]>()
  for (const { org_id: orgId, trace_id: traceId } of rows) {
    const some = byOrg.get(orgId)
    if (some === undefined) byOrg.set(orgId, [unhyphenate(traceId)])
    else some.push(unhyphenate(traceId))
  }
  return byOrg
}

export type SummaryRow = TraceSummary & { readonly traceId: string; readonly received: Date; readonly newest: Date }

/** Writes rows of traces; what was decided about them stays. */
export async function upsertSummaries(tx: Tx, orgId: string, rows: readonly SummaryRow[]): Promise<void> {
  const given = rows.map((row) => ({
    trace_id: hyphenate(row.traceId),
    project_id: row.projects[0]?.project_id,
    received_at: row.received,
    summarised_to: row.newest,
    started_at: new Date(row.startMs),
    duration_ms: row.durationMs,
    name: row.name,
    op: row.op,
    failed: row.failed,
    span_count: row.spanCount,
    projects: row.projects,
    project_ids: row.projects.map(({ project_id: id }) => id),
    names: row.names,
    releases: row.releases,
    environments: row.environments,
    tags: row.tags,
  }))
  await tx.query(
    `insert into traces as t (org_id, trace_id, project_id, keep, received_at, summarised_to, is_stale, started_at,
       duration_ms, name, op, failed, span_count, projects, project_ids, names, releases, environments, tags)
     select $1, r.trace_id, r.project_id, 0, r.received_at, r.summarised_to, false, r.started_at, r.duration_ms, r.name,
       r.op, r.failed or exists (
         select from trace_errors e where e.project_id = any(r.project_ids) and e.trace_id = r.trace_id), r.span_count, r.projects, r.project_ids, r.names, r.releases, r.environments, r.tags
     from jsonb_to_recordset($2::jsonb) r (trace_id uuid, project_id uuid, received_at timestamptz,
       summarised_to timestamptz, started_at timestamptz, duration_ms double precision, name text, op text,
       failed boolean, span_count int, projects jsonb, project_ids uuid[], names text[], releases text[],
       environments text[], tags text[])
     on conflict (org_id, trace_id) do update set
       project_id = case when t.keep = 0 then excluded.project_id else t.project_id end,
       received_at = excluded.received_at, summarised_to = excluded.summarised_to, is_stale = false,
       started_at = excluded.started_at, duration_ms = excluded.duration_ms, name = excluded.name, op = excluded.op,
       failed = excluded.failed, span_count = excluded.span_count, projects = excluded.projects,
       project_ids = excluded.project_ids, names = excluded.names, releases = excluded.releases,
       environments = excluded.environments, tags = excluded.tags`,
    [orgId, JSON.stringify(given)],
  )
}

/** Deletes rows of traces that have no part. */
export async function deleteSummaries(tx: Tx, orgId: string, traceIds: readonly string[]): Promise<void> {
  await tx.query('delete from traces where org_id = $1 and trace_id = any($2::uuid[])', [
    orgId,
    traceIds.map(hyphenate),
  ])
}
