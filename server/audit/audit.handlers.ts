import type { Handlers } from '../context/handlers.ts'
import type { auditRoutes } from './audit.api.ts'
import { listAuditLog } from './list-audit-log.ts'

export const auditHandlers: Handlers<typeof auditRoutes> = {
  listAuditLog: (app, actor, { query }) => listAuditLog(app, actor, query),
}
