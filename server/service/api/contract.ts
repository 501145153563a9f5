import { auditRoutes } from '../../history/audit/audit.api.ts'
import { apiKeyRoutes } from '../../identity/api-keys/api-keys.api.ts'
import { authRoutes } from '../../identity/auth/auth.api.ts'
import { twoFactorRoutes } from '../../identity/two-factor/two-factor.api.ts'
import { passkeyRoutes } from '../../identity/passkeys/passkeys.api.ts'
import { sessionRoutes } from '../../identity/auth/sessions.api.ts'
import { accountRoutes } from '../../identity/accounts/accounts.api.ts'
import { socialRoutes } from '../../identity/social-sign-in/social.api.ts'
import { ssoRoutes } from '../../identity/sso/sso.api.ts'
import { attachmentRoutes } from '../../events/attachments/attachments.api.ts'
import { feedbackRoutes } from '../../issues/feedback/feedback.api.ts'
import { filterRoutes } from '../../ingest/filters/filters.api.ts'
import { issueEventRoutes } from '../../issues/issue-events/issue-events.api.ts'
import { bulkRoutes } from '../../issues/bulk/bulk.api.ts'
import { issueRoutes } from '../../issues/triage/issues.api.ts'
import { inboxRoutes } from '../../issues/inbox/inbox.api.ts'
import { ownershipRoutes } from '../../issues/ownership/ownership.api.ts'
import { mergingRoutes } from '../../issues/merging/merging.api.ts'
import { viewRoutes } from '../../issues/views/views.api.ts'
import { intakeRoutes } from '../../ingest/outcomes/intake.api.ts'
import type { ByAddress } from '../../platform/kernel/contract.ts'
import { alertMailRoutes } from '../../alerts/alert-mails/alert-mails.api.ts'
import { chatRoutes } from '../../alerts/chat/chat.api.ts'
import { liveRoutes } from '../../platform/live/live.api.ts'
import { privacyRoutes } from '../erasure/privacy.api.ts'
import { scrubbingRoutes } from '../../ingest/scrubbing/scrubbing.api.ts'
import { canaryRoutes } from '../canary/canary.api.ts'
import { inviteRoutes } from '../../identity/team/invites.api.ts'
import { memberRoutes } from '../../identity/team/members.api.ts'
import { projectRoutes } from '../../projects/registry/projects.api.ts'
import { projectDeletionRoutes } from '../project-deletion/project-deletion.api.ts'
import { projectSettingsRoutes } from '../project-settings/project-settings.api.ts'
import { releaseRoutes } from '../../projects/releases/releases.api.ts'
import { alertRoutes, alertTestRoutes, dryRunRoutes } from '../../alerts/rules/alerts.api.ts'
import { releaseHealthRoutes } from '../../insights/release-health/release-health.api.ts'
import { metricsRoutes } from '../../insights/metrics/metrics.api.ts'
import { performanceRoutes } from '../../telemetry/performance/performance.api.ts'
import { sessionSummaryRoutes } from '../../telemetry/app-health/session-summary.api.ts'
import { pushDeviceRoutes } from '../../alerts/notifications/devices.api.ts'
import { preferencesRoutes } from '../../alerts/notifications/preferences.api.ts'
import { deliveryRoutes } from '../../integrations/webhooks/deliveries.api.ts'
import { webhookRoutes } from '../../integrations/webhooks/webhooks.api.ts'
import { monitorRoutes } from '../../telemetry/monitors/monitors.api.ts'
import { telemetryRoutes } from '../../telemetry/logs/telemetry.api.ts'
import { traceRoutes } from '../../telemetry/traces/traces.api.ts'

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
