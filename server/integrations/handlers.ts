import type { Handlers } from '../platform/context/handlers.ts'
import { codeHostHandlers } from './code-host/code-host.handlers.ts'
import type { integrationsContract } from './contract.api.ts'
import { trackerHandlers } from './trackers/trackers.handlers.ts'
import { deliveryHandlers } from './webhooks/deliveries.handlers.ts'
import { webhookHandlers } from './webhooks/webhooks.handlers.ts'

/** The handler of every endpoint of this district. */
export const integrationsHandlers: Handlers<typeof integrationsContract> = {
  ...codeHostHandlers,
  ...webhookHandlers,
  ...deliveryHandlers,
  ...trackerHandlers,
}
