import type { Handlers } from '../../platform/context/handlers.ts'
import type { operatorRoutes } from './operator.api.ts'
import { readOperatorStatus } from './read-status.ts'

export const operatorHandlers: Handlers<typeof operatorRoutes> = {
  readOperatorStatus: (app, actor) => readOperatorStatus(app, actor),
}
