import { codeHostRoutes } from './code-host/code-host.api.ts'
import { trackerRoutes } from './trackers/trackers.api.ts'
import { deliveryRoutes } from './webhooks/deliveries.api.ts'
import { webhookRoutes } from './webhooks/webhooks.api.ts'

/** The endpoints of this district. */
export const integrationsContract = {
  ...codeHostRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...trackerRoutes,
}
