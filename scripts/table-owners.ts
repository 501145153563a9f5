/**
 * One domain in several folders: what members and time do to issues, what digestion records, merging and bulk changes.
 */
const ISSUES = ['issue-rows', 'issue-recording', 'issue-merging', 'issue-bulk', 'issues'] as const

/**
 * The folders of `server/` whose `*.queries.ts` may write a table. `scripts/check-sql.ts` enforces it; a new table
 * needs a line here.
 */
export const tableOwners: Readonly<Record<string, readonly string[]>> = {
  app_sessions: ['metrics'],
  attachment_chunks: ['attachments'],
  attachments: ['attachments'],
  attempt_counters: ['auth'],
  bulk_operation_issues: ['issue-bulk'],
  bulk_operations: ['issue-bulk'],
  check_ins: ['telemetry'],
  client_losses_hourly: ['outcomes'],
  comment_mentions: ['inbox'],
  comments: ['issues'],
  deploys: ['releases'],
  discarded_fingerprints: ['issue-merging'],
  discards: ['issue-merging'],
  erasures: ['privacy'],
  event_blocks: ['events'],
  event_packing_changes: ['events'],
  event_packings: ['events'],
  events: ['events'],
  feedback: ['feedback'],
  flood_sampling_hourly: ['outcomes'],
  inbox_entries: ['facts', 'inbox'],
  issue_activity: ['facts', ...ISSUES],
  issue_fingerprints: ISSUES,
  issue_hours: ISSUES,
  issue_new_terms: ['issue-search'],
  issue_search: ['issue-search'],
  issue_subscriptions: ['facts', 'inbox'],
  issue_users: ISSUES,
  issue_views: ['views'],
  issues: ISSUES,
  job_workers: ['jobs'],
  logs: ['telemetry'],
  memberships: ['auth'],
  merged_issues: ISSUES,
  monitors: ['telemetry'],
  org_usage_daily: ['limits'],
  orgs: ['auth'],
  outcomes_hourly: ['outcomes'],
  performance_days: ['metrics'],
  performance_deltas: ['metrics'],
  performance_pending: ['metrics'],
  performance_rollups: ['metrics'],
  performance_seen: ['metrics'],
  performance_series: ['metrics'],
  project_keys: ['projects'],
  project_minutes: ['projects'],
  projects: ['projects'],
  release_commits: ['releases'],
  releases: ['releases'],
  seal_canary: ['storage'],
  session_attributes: ['metrics'],
  session_rollups: ['metrics'],
  sessions: ['auth'],
  signing_keys: ['auth'],
  spool: ['spool'],
  spool_quarantine: ['spool'],
  trace_metrics: ['telemetry'],
  users: ['auth'],
}

/** Tables that only their own folder reads, so that they can move to another store as a whole. */
export const privateTables: ReadonlySet<string> = new Set([
  'events',
  'event_blocks',
  'event_packings',
  'event_packing_changes',
  'spool',
  'spool_quarantine',
])
