import type { Config } from '../config/config.ts'
import { backupsTask } from './backup/backups-task.ts'
import { removeCanaryRunsTask } from './canary/remove-runs.ts'
import { resetLinkTask } from '../identity/accounts/forgot-password.ts'
import { purgeAuditTask } from '../history/audit/purge-audit.ts'
import { signHeadsTask } from '../history/audit/signed-heads.ts'
import { purgeFilesTask } from '../issues/feedback/purge-task.ts'
import { deleteEventAttachments } from '../events/attachments/attachments.queries.ts'
import { selectNamedEvents } from '../issues/rows/issues.queries.ts'
import { moveBlocksTask, packEventsTask, purgeEventsTask } from '../events/store/tasks.ts'
import { bulkIssuesTask, purgeOperationsTask } from '../issues/bulk/run-operation.ts'
import { indexTermsTask } from '../issues/search/index-documents.ts'
import { countUsersTask } from '../issues/merging/count-users.ts'
import {
  pruneCountsTask,
  renewTextsTask,
  sweepIssuesTask,
  releasedCommitsTask,
  rateImpactTask,
} from '../issues/recording/tasks.ts'
import { purgeInboxesTask } from '../issues/inbox/inbox.ts'
import { SYMBOL_TASKS } from '../symbols/tasks.ts'
import { sweepBlobsTask } from '../platform/blobs/sweep-blobs.ts'
import type { Task } from '../platform/jobs/task.ts'
import { runImportTask } from './imports/run-import.ts'
import { deleteProjectTask, deletionsTask } from './project-deletion/continue-deletion.ts'
import { purgeOutboxTask } from '../platform/outbox/purge-outbox.ts'
import { compactPerformanceTask, purgePerformanceTask } from '../telemetry/performance/compact-performance.ts'
import { purgePrecursorsTask } from '../telemetry/precursors/record-precursors.ts'
import { purgeJourneysTask } from '../telemetry/journeys/record-journey-errors.ts'
import { foldHealthTask, purgeSessionsTask } from '../telemetry/app-health/fold-health.ts'
import { purgeOutcomesTask } from '../ingest/outcomes/purge-outcomes.ts'
import { erasureTask } from './erasure/erasure-task.ts'
import { purgeQuarantineTask } from './erasure/purge-quarantine.ts'
import { purgeInvitesTask } from '../identity/team/purge-invites.ts'
import { purgeTelemetryTask } from '../telemetry/monitors/purge-telemetry.ts'
import { keepTracesTask, purgeTracesTask } from '../telemetry/traces/keep-traces.ts'
import { readBacklog } from '../ingest/spool/project-backlog.ts'
import { autoPauseTask } from '../integrations/webhooks/auto-pause.ts'
import { codeHostReleasesTask } from '../integrations/code-host/link-releases.ts'
import { purgeCodeHostsTask } from '../integrations/code-host/purge-code-host-task.ts'
import { codeHostRepositoryTask } from '../integrations/code-host/read-repository.ts'
import { codeHostDeliveryTask } from '../integrations/code-host/work-on-delivery.ts'
import { recheckDomainsTask } from '../identity/external-identity/recheck-domains.ts'
import { auditExhaustedTask } from '../integrations/webhooks/settle-webhooks.ts'
import { followHostIssueTask, followTicketTask } from '../integrations/trackers/follow-ticket.ts'
import { purgeWebhooksTask } from '../integrations/webhooks/purge-webhooks.ts'
import { selectOwners } from '../identity/auth/auth.queries.ts'
import { analyseIssuesTask } from '../assistant/analysis/analyse-issues-task.ts'
import { ANALYSIS_PARTS } from '../assistant/handlers.ts'
import { ALERT_TASKS } from '../alerts/tasks.ts'
import { weeklyDigestsTask } from './digests/weekly-digests-task.ts'

/** Every background task. */
export const TASKS: readonly Task[] = [
  resetLinkTask,
  packEventsTask(readBacklog, { readNamed: selectNamedEvents, deleteFiles: deleteEventAttachments }),
  purgeEventsTask,
  erasureTask,
  deleteProjectTask,
  deletionsTask,
  runImportTask,
  purgeFilesTask,
  foldHealthTask,
  purgeSessionsTask,
  purgeTelemetryTask,
  purgeOutcomesTask,
  purgeQuarantineTask,
  compactPerformanceTask,
  purgePerformanceTask,
  purgeJourneysTask,
  purgePrecursorsTask,
  indexTermsTask,
  ...SYMBOL_TASKS,
  renewTextsTask,
  sweepIssuesTask,
  pruneCountsTask,
  countUsersTask,
  releasedCommitsTask,
  rateImpactTask,
  bulkIssuesTask,
  purgeOperationsTask,
  purgeInboxesTask,
  purgeInvitesTask,
  signHeadsTask,
  purgeAuditTask,
  purgeOutboxTask,
  purgeWebhooksTask,
  autoPauseTask,
  auditExhaustedTask,
  codeHostDeliveryTask,
  codeHostReleasesTask,
  codeHostRepositoryTask,
  purgeCodeHostsTask,
  recheckDomainsTask,
  ...ALERT_TASKS,
  weeklyDigestsTask,
  followTicketTask,
  followHostIssueTask,
  keepTracesTask,
  purgeTracesTask,
  removeCanaryRunsTask,
  sweepBlobsTask,
  analyseIssuesTask({ ...ANALYSIS_PARTS, selectOwners }),
]

/** The tasks of a process with these settings. */
export const listTasks = ({ backup, blocks }: Config): readonly Task[] => [
  ...TASKS,
  ...(blocks.url === null ? [] : [moveBlocksTask]),
  ...(backup.folder === null ? [] : [backupsTask]),
]
