import type { Handlers } from '../context/handlers.ts'
import { listMembers } from './list-members.ts'
import type { memberRoutes } from './members.api.ts'

export const memberHandlers: Handlers<typeof memberRoutes> = {
  listMembers: (app, actor, { query }) => listMembers(app, actor, query),
}
