import type { App } from '../../platform/context/app.ts'
import { lockUntilEnd, shareLockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import {
  createSealer,
  newDataKey,
  type Opener,
  readDataKeys,
  type Sealer,
  withNewDataKey,
} from '../../platform/storage/seal.ts'
import type { SealedColumn } from '../../platform/storage/sealed-column.ts'
import { lockOrgDataKey, orgDataKey, setOrgDataKey } from './auth.queries.ts'

/**
 * Seals with the data key of an organisation, which is itself sealed with the installation's master key. The place is
 * `table:column:row:organisation`.
 *
 * Keys are read every time: a replaced key needs no cache to be dropped in other processes. Who opens a value has read it
 * before the keys, and the key before the last one stays openable: a value read just before it was sealed again opens.
 */

const placeOf = (orgId: string): string => `orgs:data_key_sealed:${orgId}:${orgId}`

export const DATA_KEYS: SealedColumn = {
  table: 'orgs',
  column: 'data_key_sealed',
  keys: ['id'],
  placeOf: (orgId = '') => placeOf(orgId),
}

/** The data key of an organisation cannot be opened: it was changed, or sealed with a key that is not configured. */
export class UnreadableKeyError extends Error {}

/**
 * For values that this transaction writes. Until it ends the key is not replaced, so that {@link replaceDataKey} leaves no
 * value behind.
 * @throws UnreadableKeyError
 */
export async function orgSealer(app: App, orgId: string, tx: Tx): Promise<Sealer> {
  await shareLockUntilEnd(tx, lockOf(orgId))
  return readSealer(app, orgId, tx)
}

/** For values that were read before. @throws UnreadableKeyError */
export const orgOpener = (app: App, orgId: string, db: Connection = app.db): Promise<Opener> =>
  readSealer(app, orgId, db)

/** A sealer of what {@link replaceDataKey} left to be sealed again. The caller holds the lock of each value. */
export const orgResealer = (app: App, orgId: string, db: Connection): Promise<Sealer> => readSealer(app, orgId, db)

/** A data key for a new organisation, sealed for its row. */
export const sealedNewDataKey = (app: App, orgId: string): string => app.sealer.seal(newDataKey(), placeOf(orgId))

/** Seals with a new data key from now on. Values of the key before stay as they are, and open. @returns the id of the key */
export async function replaceDataKey(app: App, orgId: string, tx: Tx): Promise<string> {
  await lockUntilEnd(tx, lockOf(orgId))
  const place = placeOf(orgId)
  const { keyId, stored } = withNewDataKey(readDataKeys(app.sealer.open(await lockOrgDataKey(tx, orgId), place)))
  await setOrgDataKey(tx, orgId, app.sealer.seal(stored, place))
  return keyId
}

async function readSealer(app: App, orgId: string, db: Connection): Promise<Sealer> {
  const sealedKeys = await orgDataKey(db, orgId)
  try {
    return createSealer(readDataKeys(app.sealer.open(sealedKeys, placeOf(orgId))))
  } catch (error) {
    throw new UnreadableKeyError(`the data key of organisation ${orgId} cannot be opened`, { cause: error })
  }
}

/** A number from the id: two organisations with the same one wait for each other, rarely and briefly. */
const lockOf = (orgId: string): number => 7_201_000_000_000 + Number.parseInt(orgId.replaceAll('-', '').slice(-8), 16)
