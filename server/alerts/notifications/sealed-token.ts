import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** Where the sealed token of a device is stored; see `Sealer`. */
export const tokenPlace = (orgId: string, deviceId: string): string => `push_devices:token_sealed:${deviceId}:${orgId}`

export const PUSH_TOKENS: OrgSealedColumn = {
  table: 'push_devices',
  column: 'token_sealed',
  keys: ['id'],
  placeOf: (orgId, deviceId = '') => tokenPlace(orgId, deviceId),
}
