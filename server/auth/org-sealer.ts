import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'
import type { SealedColumn } from '../storage/sealed-column.ts'
import { dataKeySealer, newDataKey, type Sealer } from '../storage/seal.ts'
import { orgDataKey } from './auth.queries.ts'
import { perApp } from '../context/per-app.ts'

/** Opened data keys. A key never changes and organisations are never deleted, so no entry becomes stale. */
const opened = perApp(() => new Map<string, Sealer>())

const placeOf = (orgId: string): string => `orgs:data_key_sealed:${orgId}:${orgId}`

export const DATA_KEYS: SealedColumn = { table: 'orgs', column: 'data_key_sealed', key: 'id', placeOf }

/** The data key of an organisation cannot be opened: it was changed, or sealed with a key that is not configured. */
export class UnreadableKeyError extends Error {}

/**
 * Seals with the organisation's data key, which is itself sealed with the installation's master key. The place is
 * `table:column:row:organisation`.
 * @param db the transaction, when there is one: it may have created the organisation
 * @throws UnreadableKeyError
 */
export async function orgSealer(app: App, orgId: string, db: Connection = app.db): Promise<Sealer> {
  const known = opened(app).get(orgId)
  if (known !== undefined) return known
  const sealedKey = await orgDataKey(db, orgId)
  let sealer: Sealer
  try {
    sealer = dataKeySealer(app.sealer.open(sealedKey, placeOf(orgId)))
  } catch (error) {
    throw new UnreadableKeyError(`the data key of organisation ${orgId} cannot be opened`, { cause: error })
  }
  opened(app).set(orgId, sealer)
  return sealer
}

/** A data key for a new organisation, sealed for its row. */
export const sealedNewDataKey = (app: App, orgId: string): string => app.sealer.seal(newDataKey(), placeOf(orgId))
