import { z } from 'zod'
import type { Opener, Sealer } from '../../platform/storage/seal.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'

/** Credentials of a tracker and the secret of its webhook; sealed at rest and never answered. */
export const TrackerConfig = z.discriminatedUnion('provider', [
  z.object({
    provider: z.literal('tracker_a'),
    base_url: z.string(),
    api_key: z.string(),
    webhook_secret: z.string(),
  }),
  z.object({
    provider: z.literal('tracker_b'),
    base_url: z.string(),
    /** Null for a Data Center, which takes a bearer token. */
    email: z.string().nullable(),
    api_token: z.string(),
    webhook_secret: z.string(),
  }),
  z.object({
    /** Issues of the repository to which the project is connected: token and webhook are those of the code host. */
    provider: z.literal('codehost'),
    project_id: z.string(),
    repository_url: z.string(),
  }),
])
export type TrackerConfig = z.infer<typeof TrackerConfig>
export type TrackerProvider = TrackerConfig['provider']

const configPlace = (orgId: string, id: string): string => `tracker_integrations:config_sealed:${id}:${orgId}`

export const TRACKER_CONFIGS: OrgSealedColumn = {
  table: 'tracker_integrations',
  column: 'config_sealed',
  keys: ['id'],
  placeOf: (orgId, id = '') => configPlace(orgId, id),
}

export const sealTracker = (sealer: Sealer, orgId: string, id: string, config: TrackerConfig): string =>
  sealer.seal(Buffer.from(JSON.stringify(config)), configPlace(orgId, id))

/** @throws Error when it cannot be opened */
export const openTracker = (opener: Opener, orgId: string, id: string, sealed: string): TrackerConfig =>
  TrackerConfig.parse(JSON.parse(opener.open(sealed, configPlace(orgId, id)).toString()))
