import type { Handlers } from '../../platform/context/handlers.ts'
import { listCheckIns } from './list-check-ins.ts'
import type { monitorRoutes } from './monitors.api.ts'

export const monitorHandlers: Handlers<typeof monitorRoutes> = {
  listCheckIns: (app, actor, { params, query }) => listCheckIns(app, actor, { ...params, ...query }),
}
