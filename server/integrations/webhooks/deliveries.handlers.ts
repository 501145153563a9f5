import type { Handlers } from '../../platform/context/handlers.ts'
import type { deliveryRoutes } from './deliveries.api.ts'
import { recoverDeliveries, replayDeliveries, replayDelivery } from './replay-deliveries.ts'
import { sendTest } from './send-test.ts'
import { listWebhookDeliveries, readWebhookDelivery } from './view-delivery.ts'

export const deliveryHandlers: Handlers<typeof deliveryRoutes> = {
  testWebhook: (app, actor, { params }) => sendTest(app, actor, params.endpointId),
  recoverWebhook: (app, actor, { params, body }) => recoverDeliveries(app, actor, { ...params, ...body }),
  listWebhookDeliveries: (app, actor, { params, query }) => listWebhookDeliveries(app, actor, { ...params, ...query }),
  readWebhookDelivery: (app, actor, { params }) => readWebhookDelivery(app, actor, params.deliveryId),
  async replayWebhookDelivery(app, actor, call) {
    const { delivery, isInFlight } = await replayDelivery(app, actor, { ...call.params, ...call.body })
    if (isInFlight) call.useOtherStatus()
    return delivery
  },
  replayWebhookDeliveries: async (app, actor, { body }) => ({ items: await replayDeliveries(app, actor, body) }),
}
