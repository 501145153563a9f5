import type { z } from 'zod'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { MAX_API_KEYS } from '#shared/limits.ts'
import type { apiKeyRoutes } from './api-keys.api.ts'
import { insertKey, lockAndCountKeys } from './api-keys.queries.ts'
import { keyHash, newKey, apiKeyPrefix } from './key-format.ts'
import { SCOPES, type Scope } from '#shared/permissions.ts'

type Spec = (typeof apiKeyRoutes)['createApiKey']

/**
 * Creates a key of the caller's membership.
 * @throws AppError invalid (scopes, expiry), conflict (too many keys)
 */
export async function createKey(
  app: App,
  actor: SessionActor,
  input: z.output<Spec['body']>,
): Promise<z.input<Spec['response']>> {
  const { userId, orgId } = actor
  const scopes = parseScopes(input.scopes)
  const now = app.clock.now()
  const expiresAt = input.expires_at == null ? null : new Date(input.expires_at)
  if (expiresAt !== null && expiresAt <= now) throw invalid('expires_at must be in the future.')
  const key = newKey()
  const row = {
    id: newId(),
    name: input.name,
    prefix: apiKeyPrefix(key),
    scopes,
    created_at: now,
    expires_at: expiresAt,
  }
  await app.tx(async (tx) => {
    if ((await lockAndCountKeys(tx, userId)) >= MAX_API_KEYS)
      throw conflict(`You have ${MAX_API_KEYS} API keys already. Delete one that you no longer use.`)
    const inserted = { ...row, user_id: userId, org_id: orgId, key_hash: keyHash(key) }
    if (!(await insertKey(tx, inserted, actor.sessionId)))
      throw unauthenticated('This session has ended. Log in again.')
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'api_key.created', orgId, targetId: row.id, label: row.name, data: { scopes } },
    ])
  })
  app.log.info({ ...actorForLog(actor), key_id: row.id }, 'api_key.created')
  return { ...row, key, created_at: now.toISOString(), expires_at: expiresAt?.toISOString() ?? null }
}

/** Names for several scopes. */
const ALIASES: Readonly<Record<string, readonly Scope[]>> = {
  read: SCOPES.filter((scope) => scope.endsWith(':read')),
  write: SCOPES.filter((scope) => scope.endsWith(':read') || scope.endsWith(':write')),
  admin: SCOPES,
}

/** `issue:read` is `issues:read`. */
const BY_NAME: ReadonlyMap<string, readonly Scope[]> = new Map([
  ...Object.entries(ALIASES),
  ...SCOPES.flatMap((scope): [string, readonly Scope[]][] => [
    [scope, [scope]],
    [scope.replace('s:', ':'), [scope]],
  ]),
])

/**
 * The scopes that a user named, aliases resolved, each once.
 * @throws AppError invalid
 */
export function parseScopes(names: readonly string[]): Scope[] {
  const chosen = new Set<Scope>()
  for (const name of names) {
    const scopes = BY_NAME.get(name)
    if (scopes === undefined)
      throw invalid(`scopes: ${name.slice(0, 40)} is unknown. Known are read, write, admin, ${SCOPES.join(', ')}.`)
    for (const scope of scopes) chosen.add(scope)
  }
  return SCOPES.filter((scope) => chosen.has(scope))
}
