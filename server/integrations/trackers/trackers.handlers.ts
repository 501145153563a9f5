import type { Handlers } from '../../platform/context/handlers.ts'
import { connectTracker, disconnectTracker, listChoices } from './connect-tracker.ts'
import { createTicket } from './create-ticket.ts'
import { takeDelivery } from './take-delivery.ts'
import type { trackerRoutes } from './trackers.api.ts'
import { selectIntegration } from './trackers.queries.ts'
import { readTracker, viewTicket } from './view-tracker.ts'

export const trackerHandlers: Handlers<typeof trackerRoutes> = {
  readTracker: (app, actor, { params }) => readTracker(app, actor, params.projectId),
  listTrackerChoices: (app, actor, { params, body }) => listChoices(app, actor, params.projectId, body),
  connectTracker: (app, actor, { params, body }) => connectTracker(app, actor, params.projectId, body),
  disconnectTracker: (app, actor, { params }) => disconnectTracker(app, actor, params.projectId),
  createTrackerTicket: async (app, actor, call) => {
    const { ticket, isNew } = await createTicket(app, actor, call.params.issueId)
    if (!isNew) call.useOtherStatus()
    const integration = await selectIntegration(app.db, actor.orgId, ticket.project_id)
    return viewTicket(ticket, integration?.id === ticket.integration_id && integration?.sync_states === true)
  },
  takeTrackerDelivery: async (app, _caller, call) => {
    const { headers, body } = call.raw()
    await takeDelivery(app, { ...call.query, headers, body })
    return {}
  },
}
