import type { Handlers } from '../../platform/context/handlers.ts'
import { createEndpoint } from './create-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { listEndpoints } from './list-endpoints.ts'
import { rotateSecret } from './rotate-secret.ts'
import { updateEndpoint } from './update-endpoint.ts'
import { viewEndpoint } from './view-endpoint.ts'
import type { webhookRoutes } from './webhooks.api.ts'

export const webhookHandlers: Handlers<typeof webhookRoutes> = {
  listWebhooks: (app, actor, { query }) => listEndpoints(app, actor, query),
  createWebhook: (app, actor, { body }) => createEndpoint(app, actor, body),
  readWebhook: (app, actor, { params }) => viewEndpoint(app, app.db, actor, params.endpointId),
  updateWebhook: (app, actor, { params, body }) => updateEndpoint(app, actor, { ...params, ...body }),
  deleteWebhook: (app, actor, { params }) => deleteEndpoint(app, actor, params.endpointId),
  rotateWebhookSecret: (app, actor, { params, body }) => rotateSecret(app, actor, { ...params, ...body }),
}
