import type { Handlers } from '../../platform/context/handlers.ts'
import { changeMonitor, deleteMonitor } from './change-monitor.ts'
import type { changeMonitorRoutes } from './change-monitor.api.ts'

export const changeMonitorHandlers: Handlers<typeof changeMonitorRoutes> = {
  changeMonitor: (app, actor, { params, body }) => changeMonitor(app, actor, params.monitorId, body),
  deleteMonitor: (app, actor, { params }) => deleteMonitor(app, actor, params.monitorId),
}
