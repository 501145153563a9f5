import type { ApiKeyActor, Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { readLiveKey, touchKey } from './api-keys.queries.ts'
import { isKey, keyHash } from './key-format.ts'

const NOTE_USE_EVERY_MS = 60_000

/**
 * The actor of a request with a key. Key and role are read at each request: deleting the key, or lowering the role, takes
 * effect at once in every process.
 * @throws AppError unauthenticated
 */
export async function actorOfKey(
  app: App,
  key: string,
  caller: Caller,
): Promise<{ readonly actor: ApiKeyActor; readonly expiresAt: Date | null }> {
  if (!isKey(key)) throw unauthenticated('This is not an API key. Copy the whole key, which begins with svc_.')
  const row = await readLiveKey(app.db, keyHash(key))
  if (row === null) throw unauthenticated('This API key does not exist or was deleted. Create a new one.')
  const now = app.clock.now()
  if (row.expires_at !== null && row.expires_at <= now)
    throw unauthenticated('This API key has expired. Create a new one.')
  const notedAfter = new Date(now.getTime() - NOTE_USE_EVERY_MS)
  if (row.last_used_at === null || row.last_used_at <= notedAfter) await touchKey(app.db, row.id, now, notedAfter)
  const { user_id: userId, user_name: name, org_id: orgId, role, id: keyId, scopes } = row
  const actor = { kind: 'api_key', userId, name, orgId, role, keyId, scopes, ...caller } as const
  return { actor, expiresAt: row.expires_at }
}
