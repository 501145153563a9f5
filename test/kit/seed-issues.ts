import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'

/** Inserts issues without events directly, each with its group, for lists and bulk changes. Returns their ids, newest first. */
export async function seedIssues(
  app: App,
  projectId: string,
  count: number,
  over: { readonly severity?: number; readonly status?: string } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, newId)
  const { rows } = await app.db.query<{ last: number }>(
    'update projects set issue_number = issue_number + $2, last_event_at = $3 where id = $1 returning issue_number - $2 as last',
    [projectId, count, app.clock.now()],
  )
  await app.db.query(
    `insert into issues (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform, status,
       status_changed_at, open_since, severity, first_seen, last_seen, event_count, user_count, is_unhandled, created_at)
     select k.id, p.org_id, p.id, $3 + k.n, 'SeedError: thing ' || k.n || ' is missing', 'find (src/find.ts)', 'SeedError',
       'thing ' || k.n || ' is missing', 'error', 'javascript', $5, $6, $6, $4, $6::timestamptz - interval '2 days',
       $6::timestamptz - k.n * interval '1 second', k.n, k.n % 50, false, $6
     from projects p, unnest($2::uuid[]) with ordinality k (id, n) where p.id = $1`,
    [projectId, ids, rows[0]?.last ?? 0, over.severity ?? 1, over.status ?? 'unresolved', app.clock.now()],
  )
  await insertGroups(app, ids)
  return ids
}

/** Inserts the groups of issues that have none. */
export async function insertGroups(app: App, issueIds: readonly string[]): Promise<void> {
  await app.db.query(
    `insert into issue_groups (id, issue_id, event_count, user_count, first_seen, last_seen, first_release, last_release,
       title, culprit, error_type, error_value, level, is_unhandled, event_severity)
     select id, id, event_count, user_count, first_seen, last_seen, first_release, last_release,
       title, culprit, error_type, error_value, level, is_unhandled, event_severity
     from issues where id = any($1::uuid[])`,
    [issueIds],
  )
}
