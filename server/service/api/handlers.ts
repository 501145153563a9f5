import { attachmentHandlers } from '../../events/attachments/attachments.handlers.ts'
import { auditHandlers } from '../../history/audit/audit.handlers.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { canaryHandlers } from '../canary/canary.handlers.ts'
import { operatorHandlers } from '../operator/operator.handlers.ts'
import { liveHandlers } from '../../platform/live/live.handlers.ts'
import { privacyHandlers } from '../erasure/privacy.handlers.ts'
import { importHandlers } from '../imports/imports.handlers.ts'
import { projectHandlers } from '../../projects/registry/projects.handlers.ts'
import { projectDeletionHandlers } from '../project-deletion/project-deletion.handlers.ts'
import { projectSettingsHandlers } from '../project-settings/project-settings.handlers.ts'
import { releaseHandlers } from '../../projects/releases/releases.handlers.ts'
import { readAnrRates } from '../../insights/metrics/read-metrics.ts'
import { insightsHandlers } from '../../insights/handlers.ts'
import { readIssueCode } from '../../integrations/code-host/read-issue-code.ts'
import { readTicket } from '../../integrations/trackers/read-ticket.ts'
import { identityHandlers } from '../../identity/handlers.ts'
import { telemetryHandlers } from '../../telemetry/handlers.ts'
import { issueParts } from '../../issues/triage/parts.ts'
import { symbolsHandlers } from '../../symbols/handlers.ts'
import { integrationsHandlers } from '../../integrations/handlers.ts'
import { issuesHandlers } from '../../issues/handlers.ts'
import { ingestHandlers } from '../../ingest/handlers.ts'
import { readMe } from '../../identity/auth/read-me.ts'
import { readQuota } from '../../ingest/outcomes/read-intake.ts'
import { readAnalysis } from '../../assistant/analysis/view-analysis.ts'
import { assistantHandlers } from '../../assistant/handlers.ts'
import { alertsHandlers } from '../../alerts/handlers.ts'
import type { Contract } from './contract.ts'

/** Every handler of the product API; the type fails when a route has none. */
export const handlers: Handlers<Contract> = {
  ...identityHandlers,
  ...projectHandlers,
  ...projectSettingsHandlers,
  ...projectDeletionHandlers,
  ...importHandlers,
  ...ingestHandlers,
  ...privacyHandlers,
  ...issuesHandlers(
    { ...issueParts, ai_analysis: readAnalysis, code: readIssueCode, ticket: readTicket },
    async (app, actor) => (await readMe(app, actor)).org.slug,
  ),
  ...releaseHandlers,
  ...telemetryHandlers(readAnrRates),
  ...alertsHandlers,
  ...insightsHandlers(readQuota),
  ...attachmentHandlers,
  ...symbolsHandlers,
  ...assistantHandlers,
  ...integrationsHandlers,
  ...canaryHandlers,
  ...operatorHandlers,
  ...liveHandlers,
  ...auditHandlers,
}
