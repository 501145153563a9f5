import { sql } from 'kysely'
import type { Connection } from '../storage/database.ts'

export type KeyRow = {
  readonly id: string
  readonly publicKey: string
  readonly expiresAt: Date | null
  readonly projectId: string
  readonly projectNumber: number
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
      'projects.id as projectId',
      'projects.number as projectNumber',
      'projects.org_id as orgId',
      'projects.region',
      'projects.settings',
      'orgs.events_per_day as eventsPerDay',
    ])
    .where('project_keys.public_key', 'in', publicKeys)
    .execute()
}

export type SeenKey = { readonly keyId: string; readonly projectId: string; readonly at: Date }

/** Notes when keys were last used and when their projects heard from an SDK for the first time. */
export async function updateSeen(db: Connection, seen: readonly SeenKey[]): Promise<void> {
  const keyIds = seen.map((one) => one.keyId)
  const projectIds = seen.map((one) => one.projectId)
  const times = seen.map((one) => one.at.toISOString())
  await sql`
    with seen as (
      select * from unnest(${keyIds}::uuid[], ${projectIds}::uuid[], ${times}::timestamptz[]) as given(key_id, project_id, at)
    ), keys as (
      update project_keys set last_seen_at = seen.at from seen
      where project_keys.id = seen.key_id and (last_seen_at is null or last_seen_at < seen.at)
    )
    update projects set first_request_at = first.at
    from (select project_id, min(at) as at from seen group by project_id) as first
    where projects.id = first.project_id and first_request_at is null
  `.execute(db)
}
