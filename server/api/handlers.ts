import { dryRunHandlers } from '../alert-evaluation/dry-run.handlers.ts'
import { alertTestHandlers } from '../alert-actions/alert-actions.handlers.ts'
import { alertHandlers } from '../alerts/alerts.handlers.ts'
import { alertMailHandlers } from '../alert-mails/alert-mails.handlers.ts'
import { attachmentHandlers } from '../attachments/attachments.handlers.ts'
import { auditHandlers } from '../audit/audit.handlers.ts'
import { apiKeyHandlers } from '../api-keys/api-keys.handlers.ts'
import { authHandlers } from '../auth/auth.handlers.ts'
import { twoFactorHandlers } from '../two-factor/two-factor.handlers.ts'
import { passkeyHandlers } from '../passkeys/passkeys.handlers.ts'
import { sessionHandlers } from '../auth/sessions.handlers.ts'
import { accountHandlers } from '../accounts/accounts.handlers.ts'
import { chatHandlers } from '../chat/chat.handlers.ts'
import type { Handlers } from '../context/handlers.ts'
import { socialHandlers } from '../social-sign-in/social.handlers.ts'
import { ssoHandlers } from '../sso/sso.handlers.ts'
import { feedbackHandlers } from '../feedback/feedback.handlers.ts'
import { filterHandlers } from '../filters/filters.handlers.ts'
import { issueEventHandlers } from '../issue-events/issue-events.handlers.ts'
import { bulkHandlers } from '../issue-bulk/bulk.handlers.ts'
import { issueHandlers } from '../issues/issues.handlers.ts'
import { inboxHandlers } from '../inbox/inbox.handlers.ts'
import { ownershipHandlers } from '../ownership/ownership.handlers.ts'
import { canaryHandlers } from '../canary/canary.handlers.ts'
import { mergingHandlers } from '../issue-merging/merging.handlers.ts'
import { viewHandlers } from '../views/views.handlers.ts'
import { intakeHandlers } from '../outcomes/intake.handlers.ts'
import { liveHandlers } from '../live/live.handlers.ts'
import { privacyHandlers } from '../privacy/privacy.handlers.ts'
import { scrubbingHandlers } from '../scrubbing/scrubbing.handlers.ts'
import { inviteHandlers } from '../team/invites.handlers.ts'
import { memberHandlers } from '../team/members.handlers.ts'
import { projectHandlers } from '../projects/projects.handlers.ts'
import { projectDeletionHandlers } from '../project-deletion/project-deletion.handlers.ts'
import { projectSettingsHandlers } from '../project-settings/project-settings.handlers.ts'
import { releaseHandlers } from '../releases/releases.handlers.ts'
import { releaseHealthHandlers } from '../release-health/release-health.handlers.ts'
import { readAnrRates } from '../metrics/read-metrics.ts'
import { metricsHandlers } from '../metrics/metrics.handlers.ts'
import { performanceHandlers } from '../performance/performance.handlers.ts'
import { sessionSummaryHandlers } from '../app-health/session-summary.handlers.ts'
import { pushDeviceHandlers } from '../notifications/devices.handlers.ts'
import { preferencesHandlers } from '../notifications/preferences.handlers.ts'
import { deliveryHandlers } from '../webhooks/deliveries.handlers.ts'
import { webhookHandlers } from '../webhooks/webhooks.handlers.ts'
import { monitorHandlers } from '../monitors/monitors.handlers.ts'
import { telemetryHandlers } from '../telemetry/telemetry.handlers.ts'
import { traceHandlers } from '../traces/traces.handlers.ts'
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
  ...issueHandlers,
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
