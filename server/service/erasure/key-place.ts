import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** The place of a user's sealed id (platform/storage/seal.ts). */
export const keyPlace = (projectId: string, userHash: number | string, orgId: string): string =>
  `erasures:user_key_sealed:${projectId}/${userHash}:${orgId}`

export const ERASED_USERS: OrgSealedColumn = {
  table: 'erasures',
  column: 'user_key_sealed',
  keys: ['project_id', 'user_hash'],
  placeOf: (orgId, projectId = '', userHash = '') => keyPlace(projectId, userHash, orgId),
}
