import { deleteProjectRows as deleteAlerts } from '../../alerts/rules/project-rows.queries.ts'
import { deleteProjectRows as deleteSessions } from '../../telemetry/app-health/project-rows.queries.ts'
import { deleteProjectRows as deleteAttachments } from '../../events/attachments/project-rows.queries.ts'
import { deleteProjectRows as deleteEvents } from '../../events/store/project-rows.queries.ts'
import { deleteProjectRows as deleteFeedback } from '../../issues/feedback/project-rows.queries.ts'
import { deleteProjectRows as deleteBulkFixes, deleteResultsOf } from '../../issues/bulk/project-rows.queries.ts'
import {
  deleteGeneration,
  deleteIssueRows,
  deleteProjectRows as deleteDiscards,
  emptyIssues,
} from '../../issues/merging/project-rows.queries.ts'
import { deleteProjectRows as deleteSecurityHours } from '../../issues/recording/security-events.queries.ts'
import { deleteNewTermsOf, deleteProjectRows as deleteIdentities } from '../../issues/search/project-rows.queries.ts'
import { deleteProjectRows as deleteJourneys } from '../../telemetry/journeys/journeys.queries.ts'
import { deleteProjectRows as deleteOutcomes } from '../../ingest/outcomes/project-rows.queries.ts'
import { deleteProjectRows as deletePerformance } from '../../telemetry/performance/project-rows.queries.ts'
import { deleteProjectRows as deletePrecursors } from '../../telemetry/precursors/precursors.queries.ts'
import { deleteProjectRows as deleteErasures } from '../erasure/project-rows.queries.ts'
import { deleteProjectMinutes } from '../../projects/registry/project-rows.queries.ts'
import type { DeleteProjectRows } from '../../projects/registry/project-rows.ts'
import { deleteProjectRows as deleteReleases } from '../../projects/releases/project-rows.queries.ts'
import { deleteProjectRows as deleteQuarantine } from '../../ingest/spool/project-rows.queries.ts'
import { deleteProjectRows as deleteTelemetry } from '../../telemetry/logs/project-rows.queries.ts'
import { deleteProjectRows as deleteTraces } from '../../telemetry/traces/project-rows.queries.ts'
import { deleteProjectRows as deleteFromViews } from '../../issues/views/project-rows.queries.ts'

/** What belongs to a project: a test fails while a table of a project is in no part and not among {@link KEPT}. */
export type ProjectPart = {
  readonly tables: readonly string[]
  /** About so many rows are deleted in one transaction: a few dozen milliseconds. */
  readonly max: number
  readonly deleteRows: DeleteProjectRows
}

/** Users and hours are up to 50,000 rows each: many issues at once hold their locks for long. */
const deleteIssues: DeleteProjectRows = async (tx, projectId, max) => {
  const { ids, isWhole, rows } = await emptyIssues(tx, projectId, max)
  if (ids.length === 0) return deleteGeneration(tx, projectId)
  if (!isWhole) return rows
  await deleteResultsOf(tx, ids)
  await deleteNewTermsOf(tx, ids)
  return rows + (await deleteIssueRows(tx, ids))
}

/** In this order: files and feedback name events, events name issues. */
export const PROJECT_PARTS: readonly ProjectPart[] = [
  { tables: ['spool_quarantine'], max: 200, deleteRows: deleteQuarantine },
  { tables: ['attachments', 'attachment_chunks'], max: 50, deleteRows: deleteAttachments },
  { tables: ['feedback'], max: 1_000, deleteRows: deleteFeedback },
  { tables: ['events', 'event_blocks'], max: 1_000, deleteRows: deleteEvents },
  {
    tables: [
      'issues',
      'issue_groups',
      'issue_fingerprints',
      'issue_generations',
      'issue_hours',
      'issue_users',
      'issue_user_slots',
      'issue_search',
      'issue_new_terms',
      'issue_activity',
      'comments',
      'comment_mentions',
      'issue_subscriptions',
      'inbox_entries',
      'bulk_operation_issues',
    ],
    max: 100,
    deleteRows: deleteIssues,
  },
  { tables: ['discards', 'discarded_fingerprints'], max: 1_000, deleteRows: deleteDiscards },
  { tables: ['user_identities'], max: 5_000, deleteRows: deleteIdentities },
  {
    tables: [
      'app_sessions',
      'user_devices',
      'health_deltas',
      'health_rollups',
      'health_sketches',
      'health_attributes',
      'health_days',
    ],
    max: 2_000,
    deleteRows: deleteSessions,
  },
  {
    tables: [
      'battery_levels',
      'battery_hours',
      'performance_pending',
      'performance_deltas',
      'performance_rollups',
      'performance_days',
      'performance_seen',
      'performance_series',
    ],
    max: 2_000,
    deleteRows: deletePerformance,
  },
  { tables: ['security_hours'], max: 5_000, deleteRows: deleteSecurityHours },
  { tables: ['journey_errors'], max: 5_000, deleteRows: deleteJourneys },
  { tables: ['precursors', 'memory_levels'], max: 5_000, deleteRows: deletePrecursors },
  { tables: ['trace_parts', 'trace_errors', 'trace_days'], max: 500, deleteRows: deleteTraces },
  {
    tables: [
      'alert_rules',
      'alert_actions',
      'alert_subjects',
      'alert_summaries',
      'alert_deliveries',
      'alert_mail_mutes',
      'fired_alerts',
      'alert_issue_minutes',
    ],
    max: 500,
    deleteRows: deleteAlerts,
  },
  { tables: ['logs', 'trace_metrics', 'check_ins', 'monitors'], max: 2_000, deleteRows: deleteTelemetry },
  { tables: ['releases', 'release_commits', 'deploys'], max: 1_000, deleteRows: deleteReleases },
  {
    tables: ['outcomes_hourly', 'client_losses_hourly', 'flood_sampling_hourly', 'costly_rules_hourly'],
    max: 5_000,
    deleteRows: deleteOutcomes,
  },
  { tables: ['project_minutes'], max: 5_000, deleteRows: deleteProjectMinutes },
  { tables: ['erasures'], max: 1_000, deleteRows: deleteErasures },
  { tables: ['issue_views'], max: 100, deleteRows: deleteFromViews },
  { tables: ['bulk_operations'], max: 100, deleteRows: deleteBulkFixes },
]

/** Tables of projects that keep their rows, or lose them otherwise. */
export const KEPT: Readonly<Record<string, string>> = {
  projects: 'The row is deleted by the request.',
  project_keys: 'The rows are deleted by the request.',
  project_ids: 'The id stays, so that what arrives late is refused. It says nothing about the project.',
  operations: 'The progress of the deletion, for 30 days.',
  audit_log: 'No entry is ever changed; it names who deleted the project.',
  event_packing_changes: 'The packing of a day deletes them; deletion waits for it.',
  issue_journal: 'Folding deletes them; deletion waits for it.',
  spool: 'Digestion takes the rows and drops requests of deleted projects; deletion waits for it.',
}
