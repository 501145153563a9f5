import type { Handlers } from '../../platform/context/handlers.ts'
import { listCheckIns } from './list-check-ins.ts'
import type { monitorRoutes } from './monitors.api.ts'
import { listMonitors, readMonitor } from './read-monitors.ts'

export const monitorHandlers: Handlers<typeof monitorRoutes> = {
  listMonitors: (app, actor, { query }) => listMonitors(app, actor, query),
  readMonitor: (app, actor, { params }) => readMonitor(app, actor, params.monitorId),
  listCheckIns: (app, actor, { params, query }) => listCheckIns(app, actor, { ...params, ...query }),
}
