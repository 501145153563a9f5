import type { Handlers } from '../platform/context/handlers.ts'
import type { issuesContract } from './contract.api.ts'
import { feedbackHandlers } from './feedback/feedback.handlers.ts'
import { issueEventHandlers } from './issue-events/issue-events.handlers.ts'
import { bulkHandlers } from './bulk/bulk.handlers.ts'
import type { IssueParts } from './triage/parts.ts'
import { issueHandlers } from './triage/issues.handlers.ts'
import { inboxHandlers } from './inbox/inbox.handlers.ts'
import { ownershipHandlers } from './ownership/ownership.handlers.ts'
import { mergingHandlers } from './merging/merging.handlers.ts'
import { missingSymbolHandlers } from './missing-symbols/missing-symbols.handlers.ts'
import type { ReadOrgSlug } from './missing-symbols/read-missing-symbols.ts'
import { viewHandlers } from './views/views.handlers.ts'

/**
 * The handler of every endpoint of this district.
 * @param parts of an issue's page
 * @param readOrgSlug which a later district knows
 */
export const issuesHandlers = (parts: IssueParts, readOrgSlug: ReadOrgSlug): Handlers<typeof issuesContract> => ({
  ...issueHandlers(parts),
  ...mergingHandlers,
  ...bulkHandlers,
  ...inboxHandlers,
  ...ownershipHandlers,
  ...issueEventHandlers,
  ...viewHandlers,
  ...feedbackHandlers,
  ...missingSymbolHandlers(readOrgSlug),
})
