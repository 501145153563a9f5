import type { Opener, Sealer } from '../../platform/storage/seal.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

const placeOf = (orgId: string): string => `sso_configs:client_secret_sealed:${orgId}:${orgId}`

export const CLIENT_SECRETS: OrgSealedColumn = {
  table: 'sso_configs',
  column: 'client_secret_sealed',
  keys: ['org_id'],
  placeOf,
}

export const sealClientSecret = (sealer: Sealer, orgId: string, secret: string): string =>
  sealer.seal(Buffer.from(secret), placeOf(orgId))

export const openClientSecret = (opener: Opener, orgId: string, sealed: string): string =>
  opener.open(sealed, placeOf(orgId)).toString()
