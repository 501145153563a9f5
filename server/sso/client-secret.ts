import type { Sealer } from '../storage/seal.ts'

const placeOf = (orgId: string): string => `sso_configs:client_secret_sealed:${orgId}:${orgId}`

export const sealClientSecret = (sealer: Sealer, orgId: string, secret: string): string =>
  sealer.seal(Buffer.from(secret), placeOf(orgId))

export const openClientSecret = (sealer: Sealer, orgId: string, sealed: string): string =>
  sealer.open(sealed, placeOf(orgId)).toString()
