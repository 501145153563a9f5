import type { Handlers } from '../../platform/context/handlers.ts'
import type { missingSymbolRoutes } from './missing-symbols.api.ts'
import { readMissingSymbols, type ReadOrgSlug } from './read-missing-symbols.ts'

export const missingSymbolHandlers = (readOrgSlug: ReadOrgSlug): Handlers<typeof missingSymbolRoutes> => ({
  readMissingSymbols: (app, actor, { params, query }) =>
    readMissingSymbols(app, actor, params.projectId, query.release ?? null, readOrgSlug),
})
