import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'
import { dataKeySealer, newDataKey, type Sealer } from '../storage/seal.ts'
import { orgDataKey } from './auth.queries.ts'
import { perApp } from './per-app.ts'

/** Opened data keys; a key never changes and an organisation never leaves, so nothing here goes stale. */
const opened = perApp(() => new Map<string, Sealer>())

const placeOf = (orgId: string): string => `orgs:data_key_sealed:${orgId}:${orgId}`

/**
 * Seals under the organisation's own data key, which is wrapped by the installation's (security 4.15). Name the place
 * `table:column:row:organisation`.
 * @param db the transaction, when there is one: it may have made the organisation
 * @throws Error when the organisation is missing or its key was sealed with an unknown one
 */
export async function orgSealer(app: App, orgId: string, db: Connection = app.db): Promise<Sealer> {
  const known = opened(app).get(orgId)
  if (known !== undefined) return known
  const sealer = dataKeySealer(app.sealer.open(await orgDataKey(db, orgId), placeOf(orgId)))
  opened(app).set(orgId, sealer)
  return sealer
}

/** A data key for a new organisation, sealed for its row. */
export const sealedNewDataKey = (app: App, orgId: string): string => app.sealer.seal(newDataKey(), placeOf(orgId))
