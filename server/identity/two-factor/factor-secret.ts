import type { App } from '../../platform/context/app.ts'
import type { SealedColumn } from '../../platform/storage/sealed-column.ts'
import type { FactorRow } from './two-factor.queries.ts'

/** Users belong to no organisation: their secrets are sealed with the master key. */
const placeOf = (factorId: string, userId: string): string => `totp_factors:secret_sealed:${factorId}:${userId}`

export const sealSecret = (app: App, secret: Buffer, factorId: string, userId: string): string =>
  app.sealer.seal(secret, placeOf(factorId, userId))

export const openSecret = (app: App, factor: FactorRow): Buffer =>
  app.sealer.open(factor.secret_sealed, placeOf(factor.id, factor.user_id))

export const FACTOR_SECRETS: SealedColumn = {
  table: 'totp_factors',
  column: 'secret_sealed',
  keys: ['id', 'user_id'],
  placeOf: (factorId = '', userId = '') => placeOf(factorId, userId),
}
