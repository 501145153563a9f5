import type { Handlers } from '../../platform/context/handlers.ts'
import type { organisationRoutes } from './organisation.api.ts'
import { renameOrg } from './rename-org.ts'

export const organisationHandlers: Handlers<typeof organisationRoutes> = {
  updateOrganisation: (app, actor, { body }) => renameOrg(app, actor, body.name),
}
