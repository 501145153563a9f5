import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** Where a sealed secret is stored; see `Sealer`. */
export const secretPlace = (orgId: string, endpointId: string, version: number | string): string =>
  `webhook_secrets:secret_sealed:${endpointId}/${version}:${orgId}`

/** Where sealed headers are stored. */
export const headersPlace = (orgId: string, endpointId: string): string =>
  `webhook_endpoints:headers_sealed:${endpointId}:${orgId}`

export const WEBHOOK_SECRETS: OrgSealedColumn = {
  table: 'webhook_secrets',
  column: 'secret_sealed',
  keys: ['endpoint_id', 'version'],
  parent: { table: 'webhook_endpoints', key: 'id', by: 'endpoint_id' },
  placeOf: (orgId, endpointId = '', version = '') => secretPlace(orgId, endpointId, version),
}

export const WEBHOOK_HEADERS: OrgSealedColumn = {
  table: 'webhook_endpoints',
  column: 'headers_sealed',
  keys: ['id'],
  placeOf: (orgId, endpointId = '') => headersPlace(orgId, endpointId),
}
