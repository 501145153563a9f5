import type { Handlers } from '../../platform/context/handlers.ts'
import type { apiKeyRoutes } from './api-keys.api.ts'
import { createKey } from './create-key.ts'
import { deleteKey } from './delete-key.ts'
import { listKeys } from './list-keys.ts'

export const apiKeyHandlers: Handlers<typeof apiKeyRoutes> = {
  listApiKeys: (app, actor, { query }) => listKeys(app, actor, query),
  createApiKey: (app, actor, { body }) => createKey(app, actor, body),
  deleteApiKey: (app, actor, { params }) => deleteKey(app, actor, params.keyId),
}
