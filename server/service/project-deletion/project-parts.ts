import { ALERT_PARTS } from '../../alerts/rules/rules.queries.ts'
import { ATTACHMENT_PART } from '../../events/attachments/attachments.queries.ts'
import { EVENT_PART, EVENT_VALUES_PART } from '../../events/store/project-rows.queries.ts'
import { OUTCOME_PART } from '../../ingest/outcomes/outcomes.queries.ts'
import { QUARANTINE_PART } from '../../ingest/spool/spool.queries.ts'
import { TRACKER_PART } from '../../integrations/trackers/trackers.queries.ts'
import { CODE_HOST_PARTS } from '../../integrations/code-host/code-hosts.queries.ts'
import { BULK_PART, ISSUE_PART } from '../../issues/bulk/project-rows.queries.ts'
import { FEEDBACK_PART } from '../../issues/feedback/feedback.queries.ts'
import { DISCARD_PARTS } from '../../issues/merging/discards.queries.ts'
import { SECURITY_PART } from '../../issues/recording/record.queries.ts'
import { IDENTITY_PART } from '../../issues/search/user-identities.queries.ts'
import { SAVED_QUERY_PART } from '../../assistant/query/saved-queries.queries.ts'
import { VIEW_PART } from '../../issues/views/project-rows.queries.ts'
import { MINUTES_PART } from '../../projects/registry/project-rows.queries.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'
import { ASSEMBLED_PART } from '../../symbols/upload-protocol/chunks.queries.ts'
import { SYMBOL_PART } from '../../symbols/files/symbol-files.queries.ts'
import { RELEASE_PARTS } from '../../projects/releases/releases.queries.ts'
import { HEALTH_PART } from '../../telemetry/app-health/fold.queries.ts'
import { JOURNEY_PART } from '../../telemetry/journeys/journeys.queries.ts'
import { ENTRY_PART } from '../../telemetry/logs/purge.queries.ts'
import { MONITOR_PARTS } from '../../telemetry/monitors/check-ins.queries.ts'
import { PERFORMANCE_PARTS } from '../../telemetry/performance/record.queries.ts'
import { PRECURSOR_PART } from '../../telemetry/precursors/precursors.queries.ts'
import { TRACE_PARTS } from '../../telemetry/traces/record.queries.ts'
import { ERASURE_PART } from '../erasure/erasures.queries.ts'

/**
 * Rows that belong to a project: a test fails while a table of a project is in no part and not among {@link KEPT}. Rows
 * that others refer to follow those: files and feedback name events, events name issues.
 */
export const PROJECT_PARTS: readonly ProjectPart[] = [
  QUARANTINE_PART,
  ATTACHMENT_PART,
  FEEDBACK_PART,
  ...CODE_HOST_PARTS,
  TRACKER_PART,
  EVENT_PART,
  EVENT_VALUES_PART,
  ISSUE_PART,
  ...DISCARD_PARTS,
  IDENTITY_PART,
  HEALTH_PART,
  ...PERFORMANCE_PARTS,
  SECURITY_PART,
  JOURNEY_PART,
  PRECURSOR_PART,
  ...TRACE_PARTS,
  ...ALERT_PARTS,
  ENTRY_PART,
  ...MONITOR_PARTS,
  SYMBOL_PART,
  ASSEMBLED_PART,
  ...RELEASE_PARTS,
  OUTCOME_PART,
  MINUTES_PART,
  ERASURE_PART,
  VIEW_PART,
  SAVED_QUERY_PART,
  BULK_PART,
]

/** Tables of projects that keep their rows, or lose them otherwise. */
export const KEPT: Readonly<Record<string, string>> = {
  projects: 'The row is deleted by the request.',
  project_keys: 'The rows are deleted by the request.',
  notification_projects: 'The rows are deleted by the request, with the row of the project.',
  project_ids: 'The id stays, so that what arrives late is refused. It says nothing about the project.',
  operations: 'The progress of the deletion, for 30 days.',
  audit_log: 'No entry is ever changed; it names who deleted the project.',
  event_packing_changes: 'The packing of a day deletes them; deletion waits for it.',
  event_segment_removals: 'Writing objects again deletes them; deletion waits for it.',
  issue_analyses: 'The rows are deleted with their issue.',
  issue_analysis_feedback: 'The rows are deleted with their analysis.',
  issue_analysis_requests: 'The rows are deleted with their issue.',
  issue_journal: 'Folding deletes them; deletion waits for it.',
  spool: 'Digestion takes the rows and drops requests of deleted projects; deletion waits for it.',
}
