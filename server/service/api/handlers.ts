import { dryRunHandlers } from '../../alerts/evaluation/dry-run.handlers.ts'
import { alertTestHandlers } from '../../alerts/actions/alert-actions.handlers.ts'
import { alertHandlers } from '../../alerts/rules/alerts.handlers.ts'
import { alertMailHandlers } from '../../alerts/alert-mails/alert-mails.handlers.ts'
import { attachmentHandlers } from '../../events/attachments/attachments.handlers.ts'
import { auditHandlers } from '../../history/audit/audit.handlers.ts'
import { apiKeyHandlers } from '../../identity/api-keys/api-keys.handlers.ts'
import { authHandlers } from '../../identity/auth/auth.handlers.ts'
import { twoFactorHandlers } from '../../identity/two-factor/two-factor.handlers.ts'
import { passkeyHandlers } from '../../identity/passkeys/passkeys.handlers.ts'
import { sessionHandlers } from '../../identity/auth/sessions.handlers.ts'
import { accountHandlers } from '../../identity/accounts/accounts.handlers.ts'
import { chatHandlers } from '../../alerts/chat/chat.handlers.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { socialHandlers } from '../../identity/social-sign-in/social.handlers.ts'
import { ssoHandlers } from '../../identity/sso/sso.handlers.ts'
import { feedbackHandlers } from '../../issues/feedback/feedback.handlers.ts'
import { filterHandlers } from '../../ingest/filters/filters.handlers.ts'
import { issueEventHandlers } from '../../issues/issue-events/issue-events.handlers.ts'
import { bulkHandlers } from '../../issues/bulk/bulk.handlers.ts'
import { issueParts } from '../../issues/triage/parts.ts'
import { issueHandlers } from '../../issues/triage/issues.handlers.ts'
import { inboxHandlers } from '../../issues/inbox/inbox.handlers.ts'
import { ownershipHandlers } from '../../issues/ownership/ownership.handlers.ts'
import { canaryHandlers } from '../canary/canary.handlers.ts'
import { mergingHandlers } from '../../issues/merging/merging.handlers.ts'
import { viewHandlers } from '../../issues/views/views.handlers.ts'
import { intakeHandlers } from '../../ingest/outcomes/intake.handlers.ts'
import { liveHandlers } from '../../platform/live/live.handlers.ts'
import { privacyHandlers } from '../erasure/privacy.handlers.ts'
import { scrubbingHandlers } from '../../ingest/scrubbing/scrubbing.handlers.ts'
import { inviteHandlers } from '../../identity/team/invites.handlers.ts'
import { memberHandlers } from '../../identity/team/members.handlers.ts'
import { projectHandlers } from '../../projects/registry/projects.handlers.ts'
import { projectDeletionHandlers } from '../project-deletion/project-deletion.handlers.ts'
import { projectSettingsHandlers } from '../project-settings/project-settings.handlers.ts'
import { releaseHandlers } from '../../projects/releases/releases.handlers.ts'
import { releaseHealthHandlers } from '../../insights/release-health/release-health.handlers.ts'
import { readAnrRates } from '../../insights/metrics/read-metrics.ts'
import { metricsHandlers } from '../../insights/metrics/metrics.handlers.ts'
import { performanceHandlers } from '../../telemetry/performance/performance.handlers.ts'
import { sessionSummaryHandlers } from '../../telemetry/app-health/session-summary.handlers.ts'
import { pushDeviceHandlers } from '../../alerts/notifications/devices.handlers.ts'
import { preferencesHandlers } from '../../alerts/notifications/preferences.handlers.ts'
import { deliveryHandlers } from '../../integrations/webhooks/deliveries.handlers.ts'
import { webhookHandlers } from '../../integrations/webhooks/webhooks.handlers.ts'
import { monitorHandlers } from '../../telemetry/monitors/monitors.handlers.ts'
import { telemetryHandlers } from '../../telemetry/logs/telemetry.handlers.ts'
import { traceHandlers } from '../../telemetry/traces/traces.handlers.ts'
import type { Contract } from './contract.ts'

/** Every handler of the product API; the type fails when a route has none. */
export const handlers: Handlers<Contract> = {
  ...authHandlers,
  ...twoFactorHandlers,
  ...passkeyHandlers,
  ...sessionHandlers,
  ...accountHandlers,
  ...ssoHandlers,
  ...socialHandlers,
  ...projectHandlers,
  ...projectSettingsHandlers,
  ...projectDeletionHandlers,
  ...memberHandlers,
  ...inviteHandlers,
  ...apiKeyHandlers,
  ...filterHandlers,
  ...scrubbingHandlers,
  ...privacyHandlers,
  ...issueHandlers(issueParts),
  ...mergingHandlers,
  ...bulkHandlers,
  ...inboxHandlers,
  ...ownershipHandlers,
  ...issueEventHandlers,
  ...viewHandlers,
  ...releaseHandlers,
  ...releaseHealthHandlers,
  ...sessionSummaryHandlers,
  ...alertHandlers,
  ...dryRunHandlers,
  ...alertTestHandlers,
  ...metricsHandlers,
  ...performanceHandlers(readAnrRates),
  ...attachmentHandlers,
  ...feedbackHandlers,
  ...telemetryHandlers,
  ...monitorHandlers,
  ...traceHandlers,
  ...intakeHandlers,
  ...webhookHandlers,
  ...deliveryHandlers,
  ...pushDeviceHandlers,
  ...preferencesHandlers,
  ...canaryHandlers,
  ...alertMailHandlers,
  ...chatHandlers,
  ...liveHandlers,
  ...auditHandlers,
}
