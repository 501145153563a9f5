import type { Handlers } from '../../platform/context/handlers.ts'
import { endOtherSessions, endOwnSession } from './end-sessions.ts'
import { forgetDevice } from './device-token.ts'
import { listDevices, listSessions } from './list-sessions.ts'
import { clearSessionCookies } from './session-cookies.ts'
import type { sessionRoutes } from './sessions.api.ts'

export const sessionHandlers: Handlers<typeof sessionRoutes> = {
  listSessions: (app, actor) => listSessions(app, actor),
  endSession: async (app, actor, { params, cookies }) => {
    await endOwnSession(app, actor, params.sessionId)
    if (params.sessionId === actor.sessionId) clearSessionCookies(cookies)
  },
  endOtherSessions: async (app, actor) => ({ ok: true, ended: await endOtherSessions(app, actor) }),
  listDevices: (app, actor) => listDevices(app, actor),
  forgetDevice: (app, actor, { params }) => forgetDevice(app, actor, params.deviceId),
}
