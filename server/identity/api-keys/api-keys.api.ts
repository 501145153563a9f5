import { z } from 'zod'
import { MAX_API_KEYS } from '#shared/limits.ts'
import { SCOPES } from '#shared/permissions.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, nameSort, pageSchema, pageQuery, timeInput, Timestamp } from '../../platform/kernel/page.api.ts'

export const ApiKey = z.object({
  id: Id,
  name: z.string(),
  prefix: z.string().describe('The first 12 characters of the key.'),
  scopes: z.array(z.enum(SCOPES)),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('Accurate to the minute; null until the key is used.'),
  expires_at: Timestamp.nullable(),
})
z.globalRegistry.add(ApiKey, { id: 'ApiKey' })

export const apiKeyRoutes = routes({
  listApiKeys: {
    method: 'GET',
    path: '/api/api-keys',
    tag: 'API keys',
    summary: 'Your API keys in this organisation',
    permission: 'self',
    query: z.strictObject({ ...pageQuery(), sort: nameSort }),
    response: pageSchema(ApiKey),
  },
  createApiKey: {
    method: 'POST',
    path: '/api/api-keys',
    tag: 'API keys',
    summary: 'Create an API key',
    description: `The response is the only one that shows the key. It acts as you in this organisation, limited by its scopes; your role of each moment is its limit too. \`read\` (every scope that ends in :read), \`write\` (also those that end in :write) and \`admin\` (all) stand for several scopes. At most ${MAX_API_KEYS} keys per user (409).`,
    permission: 'self',
    status: 201,
    body: z.strictObject({
      name: z
        .string({ error: 'name must be a string.' })
        .trim()
        .min(1, { error: 'name must not be empty.' })
        .max(100, { error: 'name must be at most 100 characters.' }),
      scopes: z
        .array(z.string({ error: 'scopes must be a list of scopes.' }), { error: 'scopes must be a list of scopes.' })
        .min(1, { error: 'scopes must name at least one scope.' })
        .max(100, { error: 'scopes must name at most 100 scopes.' })
        .describe(`read, write, admin, or some of ${SCOPES.join(', ')}.`),
      expires_at: timeInput('expires_at').nullish().describe('Absent or null: it does not expire.'),
    }),
    response: ApiKey.omit({ last_used_at: true }).extend({
      key: z.string().describe('The key. It is not stored and not shown again.'),
    }),
    refusals: [409],
  },
  deleteApiKey: {
    method: 'DELETE',
    path: '/api/api-keys/:keyId',
    tag: 'API keys',
    summary: 'Delete an API key; it stops working immediately',
    permission: 'self',
    status: 204,
    params: z.object({ keyId: Id }),
    refusals: [404],
  },
})
