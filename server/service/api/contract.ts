import { auditRoutes } from '../../history/audit/audit.api.ts'
import { attachmentRoutes } from '../../events/attachments/attachments.api.ts'
import { identityContract } from '../../identity/contract.api.ts'
import { telemetryContract } from '../../telemetry/contract.api.ts'
import { symbolsContract } from '../../symbols/contract.api.ts'
import { integrationsContract } from '../../integrations/contract.api.ts'
import { issuesContract } from '../../issues/contract.api.ts'
import { ingestContract } from '../../ingest/contract.api.ts'
import { assistantContract } from '../../assistant/contract.api.ts'
import { alertsContract } from '../../alerts/contract.api.ts'
import type { ByAddress } from '../../platform/kernel/contract.ts'
import { liveRoutes } from '../../platform/live/live.api.ts'
import { privacyRoutes } from '../erasure/privacy.api.ts'
import { canaryRoutes } from '../canary/canary.api.ts'
import { operatorRoutes } from '../operator/operator.api.ts'
import { importRoutes } from '../imports/imports.api.ts'
import { projectRoutes } from '../../projects/registry/projects.api.ts'
import { projectDeletionRoutes } from '../project-deletion/project-deletion.api.ts'
import { projectSettingsRoutes } from '../project-settings/project-settings.api.ts'
import { releaseRoutes } from '../../projects/releases/releases.api.ts'
import { insightsContract } from '../../insights/contract.api.ts'

/** Every endpoint of the product API. The browser imports only its type. */
export const contract = {
  ...identityContract,
  ...projectRoutes,
  ...projectSettingsRoutes,
  ...projectDeletionRoutes,
  ...importRoutes,
  ...ingestContract,
  ...privacyRoutes,
  ...issuesContract,
  ...releaseRoutes,
  ...telemetryContract,
  ...alertsContract,
  ...insightsContract,
  ...attachmentRoutes,
  ...symbolsContract,
  ...assistantContract,
  ...integrationsContract,
  ...canaryRoutes,
  ...operatorRoutes,
  ...liveRoutes,
  ...auditRoutes,
}

export type Contract = typeof contract

/** `'PATCH /api/issues/:issueId'` → the route, for the typed client. */
export type Addresses = ByAddress<Contract>
