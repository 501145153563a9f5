import type { Connection } from '../../platform/storage/database.ts'

export type KeyRow = {
  readonly id: string
  readonly publicKey: string
  readonly expiresAt: Date | null
  readonly disabledAt: Date | null
  /** The key's own limit; null for the project's. */
  readonly ratePerMinute: number | null
  readonly projectId: string
  readonly projectNumber: number
  /** The number in the DSN of another service whose key was taken over. */
  readonly dsnNumber: string | null
  readonly orgId: string
  readonly region: string
  readonly settings: Record<string, unknown>
  readonly eventsPerDay: number | null
}

export async function selectKeys(db: Connection, publicKeys: readonly string[]): Promise<KeyRow[]> {
  return db
    .selectFrom('project_keys')
    .innerJoin('projects', 'projects.id', 'project_keys.project_id')
    .innerJoin('orgs', 'orgs.id', 'projects.org_id')
    .select([
      'project_keys.id',
      'project_keys.public_key as publicKey',
      'project_keys.expires_at as expiresAt',
      'project_keys.disabled_at as disabledAt',
      'project_keys.rate_limit_per_minute as ratePerMinute',
      'projects.id as projectId',
      'projects.number as projectNumber',
      'project_keys.dsn_number as dsnNumber',
      'projects.org_id as orgId',
      'projects.region',
      'projects.settings',
      'orgs.events_per_day as eventsPerDay',
    ])
    .where('project_keys.public_key', 'in', publicKeys)
    .execute()
}
