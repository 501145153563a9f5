import type { Handlers } from '../../platform/context/handlers.ts'
import type { auditRoutes } from './audit.api.ts'
import { exportAuditLog } from './export-audit-log.ts'
import { listAuditLog } from './list-audit-log.ts'
import { verifyAuditLog } from './verify-chain.ts'

export const auditHandlers: Handlers<typeof auditRoutes> = {
  listAuditLog: (app, actor, { query }) => listAuditLog(app, actor, query),
  exportAuditLog: async (app, actor, call) => call.sendFile(await exportAuditLog(app, actor, call.query)),
  verifyAuditLog: (app, actor) => verifyAuditLog(app, actor),
}
