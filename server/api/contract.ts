import { auditRoutes } from '../audit/audit.api.ts'
import { apiKeyRoutes } from '../api-keys/api-keys.api.ts'
import { authRoutes } from '../auth/auth.api.ts'
import { twoFactorRoutes } from '../two-factor/two-factor.api.ts'
import { passkeyRoutes } from '../passkeys/passkeys.api.ts'
import { sessionRoutes } from '../auth/sessions.api.ts'
import { accountRoutes } from '../accounts/accounts.api.ts'
import { socialRoutes } from '../social-sign-in/social.api.ts'
import { ssoRoutes } from '../sso/sso.api.ts'
import { attachmentRoutes } from '../attachments/attachments.api.ts'
import { feedbackRoutes } from '../feedback/feedback.api.ts'
import { filterRoutes } from '../filters/filters.api.ts'
import { issueEventRoutes } from '../issue-events/issue-events.api.ts'
import { bulkRoutes } from '../issue-bulk/bulk.api.ts'
import { issueRoutes } from '../issues/issues.api.ts'
import { inboxRoutes } from '../inbox/inbox.api.ts'
import { ownershipRoutes } from '../ownership/ownership.api.ts'
import { mergingRoutes } from '../issue-merging/merging.api.ts'
import { viewRoutes } from '../views/views.api.ts'
import { intakeRoutes } from '../outcomes/intake.api.ts'
import type { ByAddress } from '../kernel/contract.ts'
import { alertMailRoutes } from '../alert-mails/alert-mails.api.ts'
import { chatRoutes } from '../chat/chat.api.ts'
import { liveRoutes } from '../live/live.api.ts'
import { privacyRoutes } from '../privacy/privacy.api.ts'
import { scrubbingRoutes } from '../scrubbing/scrubbing.api.ts'
import { canaryRoutes } from '../canary/canary.api.ts'
import { inviteRoutes } from '../team/invites.api.ts'
import { memberRoutes } from '../team/members.api.ts'
import { projectRoutes } from '../projects/projects.api.ts'
import { projectDeletionRoutes } from '../project-deletion/project-deletion.api.ts'
import { projectSettingsRoutes } from '../project-settings/project-settings.api.ts'
import { releaseRoutes } from '../releases/releases.api.ts'
import { alertRoutes, alertTestRoutes, dryRunRoutes } from '../alerts/alerts.api.ts'
import { releaseHealthRoutes } from '../release-health/release-health.api.ts'
import { metricsRoutes } from '../metrics/metrics.api.ts'
import { performanceRoutes } from '../performance/performance.api.ts'
import { sessionSummaryRoutes } from '../app-health/session-summary.api.ts'
import { pushDeviceRoutes } from '../notifications/devices.api.ts'
import { preferencesRoutes } from '../notifications/preferences.api.ts'
import { deliveryRoutes } from '../webhooks/deliveries.api.ts'
import { webhookRoutes } from '../webhooks/webhooks.api.ts'
import { monitorRoutes } from '../monitors/monitors.api.ts'
import { telemetryRoutes } from '../telemetry/telemetry.api.ts'
import { traceRoutes } from '../traces/traces.api.ts'

/** Every endpoint of the product API. The browser imports only its type. */
export const contract = {
  ...authRoutes,
  ...twoFactorRoutes,
  ...passkeyRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...ssoRoutes,
  ...socialRoutes,
  ...projectRoutes,
  ...projectSettingsRoutes,
  ...projectDeletionRoutes,
  ...memberRoutes,
  ...inviteRoutes,
  ...apiKeyRoutes,
  ...filterRoutes,
  ...scrubbingRoutes,
  ...privacyRoutes,
  ...issueRoutes,
  ...mergingRoutes,
  ...bulkRoutes,
  ...inboxRoutes,
  ...ownershipRoutes,
  ...issueEventRoutes,
  ...viewRoutes,
  ...releaseRoutes,
  ...releaseHealthRoutes,
  ...sessionSummaryRoutes,
  ...alertRoutes,
  ...dryRunRoutes,
  ...alertTestRoutes,
  ...metricsRoutes,
  ...performanceRoutes,
  ...attachmentRoutes,
  ...feedbackRoutes,
  ...telemetryRoutes,
  ...monitorRoutes,
  ...traceRoutes,
  ...intakeRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...pushDeviceRoutes,
  ...preferencesRoutes,
  ...canaryRoutes,
  ...alertMailRoutes,
  ...chatRoutes,
  ...liveRoutes,
  ...auditRoutes,
}

export type Contract = typeof contract

/** `'PATCH /api/issues/:issueId'` → the route, for the typed client. */
export type Addresses = ByAddress<Contract>
