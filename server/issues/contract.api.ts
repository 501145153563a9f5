import { feedbackRoutes } from './feedback/feedback.api.ts'
import { issueEventRoutes } from './issue-events/issue-events.api.ts'
import { bulkRoutes } from './bulk/bulk.api.ts'
import { issueRoutes } from './triage/issues.api.ts'
import { inboxRoutes } from './inbox/inbox.api.ts'
import { ownershipRoutes } from './ownership/ownership.api.ts'
import { mergingRoutes } from './merging/merging.api.ts'
import { missingSymbolRoutes } from './missing-symbols/missing-symbols.api.ts'
import { viewRoutes } from './views/views.api.ts'

/** The endpoints of this district. */
export const issuesContract = {
  ...issueRoutes,
  ...mergingRoutes,
  ...bulkRoutes,
  ...inboxRoutes,
  ...ownershipRoutes,
  ...issueEventRoutes,
  ...viewRoutes,
  ...feedbackRoutes,
  ...missingSymbolRoutes,
}
