import { removeCanaryRunsTask } from './canary/remove-runs.ts'
import { resetLinkTask } from './accounts/forgot-password.ts'
import { purgeAuditTask } from './audit/purge-audit.ts'
import { signHeadsTask } from './audit/signed-heads.ts'
import { purgeFilesTask } from './feedback/purge-task.ts'
import { packEventsTask } from './events/pack-task.ts'
import { purgeEventsTask } from './events/purge-events.ts'
import { bulkIssuesTask, purgeOperationsTask } from './issue-bulk/run-operation.ts'
import { indexTermsTask } from './issue-search/index-documents.ts'
import { countUsersTask } from './issue-merging/count-users.ts'
import { releasedCommitsTask } from './issue-recording/released-commits.ts'
import { pruneCountsTask, sweepIssuesTask } from './issue-recording/tasks.ts'
import { purgeInboxesTask } from './inbox/inbox.ts'
import type { Task } from './jobs/task.ts'
import { deleteProjectTask, deletionsTask } from './project-deletion/continue-deletion.ts'
import { pushReceiptsTask } from './notifications/read-receipts-task.ts'
import { purgeOutboxTask } from './outbox/purge-outbox.ts'
import { compactPerformanceTask } from './performance/compact-performance.ts'
import { purgePerformanceTask } from './performance/purge-performance.ts'
import { purgePrecursorsTask } from './precursors/purge-precursors.ts'
import { purgeJourneysTask } from './journeys/purge-journeys.ts'
import { foldHealthTask } from './app-health/fold-health.ts'
import { purgeSessionsTask } from './app-health/purge-sessions.ts'
import { rateImpactTask } from './issue-recording/rate-impact.ts'
import { purgeOutcomesTask } from './outcomes/purge-outcomes.ts'
import { erasureTask } from './privacy/erasure-task.ts'
import { purgeQuarantineTask } from './privacy/purge-quarantine.ts'
import { purgeInvitesTask } from './team/purge-invites.ts'
import { purgeTelemetryTask } from './telemetry/purge-telemetry.ts'
import { keepTracesTask, purgeTracesTask } from './traces/keep-traces.ts'
import { selectBacklog } from './spool/spool.queries.ts'
import { autoPauseTask } from './webhooks/auto-pause.ts'
import { recheckDomainsTask } from './sso/recheck-domains.ts'
import { auditExhaustedTask } from './webhooks/settle-webhooks.ts'
import { purgeChatTask } from './chat/purge-chat-task.ts'
import { purgeWebhooksTask } from './webhooks/purge-webhooks.ts'
import { evaluateAlertsTask } from './alert-evaluation/evaluate-rules.ts'
import { purgeAlertsTask } from './alerts/keep-alerts.ts'

/** Every background task. */
export const TASKS: readonly Task[] = [
  resetLinkTask,
  packEventsTask(selectBacklog),
  purgeEventsTask,
  erasureTask,
  deleteProjectTask,
  deletionsTask,
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
  pushReceiptsTask,
  purgeWebhooksTask,
  autoPauseTask,
  auditExhaustedTask,
  recheckDomainsTask,
  evaluateAlertsTask,
  purgeAlertsTask,
  purgeChatTask,
  keepTracesTask,
  purgeTracesTask,
  removeCanaryRunsTask,
]
