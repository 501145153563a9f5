import type { Handlers } from '../../platform/context/handlers.ts'
import { changeCodeHost } from './change-code-host.ts'
import type { codeHostRoutes } from './code-host.api.ts'
import { connectCodeHost } from './connect-code-host.ts'
import { disconnectCodeHost } from './disconnect-code-host.ts'
import { takeDelivery } from './take-delivery.ts'
import { viewCodeHost } from './view-code-host.ts'

export const codeHostHandlers: Handlers<typeof codeHostRoutes> = {
  readCodeHost: (app, actor, { params }) => viewCodeHost(app, actor, params.projectId),
  connectCodeHost: (app, actor, { params, body }) => connectCodeHost(app, actor, { ...params, ...body }),
  changeCodeHost: (app, actor, { params, body }) => changeCodeHost(app, actor, { ...params, ...body }),
  disconnectCodeHost: (app, actor, { params }) => disconnectCodeHost(app, actor, params.projectId),
  takeCodeHostDelivery: (app, caller, call) =>
    takeDelivery(app, caller, {
      projectId: call.query.project ?? '',
      headers: call.raw().headers,
      content: call.upload().content,
    }),
}
