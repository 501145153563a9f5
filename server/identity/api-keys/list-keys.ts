import type { z } from 'zod'
import { SCOPES } from '#shared/permissions.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { pageByName, type NameListInput } from '../../platform/kernel/page-by-name.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { ApiKey } from './api-keys.api.ts'
import { countKeys, selectKeys, type ListedKey } from './api-keys.queries.ts'

/**
 * The caller's keys in the organisation of the session.
 * @throws AppError invalid for a cursor of another sort
 */
export function listKeys(
  app: App,
  { userId, orgId }: SessionActor,
  input: NameListInput,
): Promise<Page<z.infer<typeof ApiKey>>> {
  const owner = { userId, orgId }
  return pageByName(
    input,
    (listing) => selectKeys(app.db, { ...listing, ...owner }),
    () => countKeys(app.db, owner),
    viewKey,
  )
}

const viewKey = (row: ListedKey): z.infer<typeof ApiKey> => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: SCOPES.filter((scope) => row.scopes.includes(scope)),
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  expires_at: row.expires_at?.toISOString() ?? null,
})
