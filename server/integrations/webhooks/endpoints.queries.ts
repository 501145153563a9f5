import { type Insertable, sql, type Updateable } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** Endpoints, their secrets and their days. The bounds and the pause of an endpoint are those of its lane. */

// Applications

/**
 * The application of the organisation with this id, by default its default one. Others that add an endpoint to it wait
 * until the transaction ends, so that they count what this one adds.
 */
export async function lockApplication(tx: Tx, orgId: string, appId: string | undefined): Promise<string | undefined> {
  let query = tx.selectFrom('applications').select('id').where('org_id', '=', orgId)
  query = appId === undefined ? query.where('is_default', '=', true) : query.where('id', '=', appId)
  return (await query.forNoKeyUpdate().executeTakeFirst())?.id
}

export async function countEndpoints(tx: Tx, appId: string): Promise<number> {
  const { n } = await tx
    .selectFrom('webhook_endpoints')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('app_id', '=', appId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return n
}

// Endpoints

const endpoints = (db: Connection, orgId: string) =>
  db
    .selectFrom('webhook_endpoints as e')
    .innerJoin('outbox_lanes as l', 'l.id', 'e.id')
    .innerJoin('webhook_secrets as s', (join) =>
      join.onRef('s.endpoint_id', '=', 'e.id').onRef('s.version', '=', 'e.secret_version'),
    )
    .where('e.org_id', '=', orgId)
    .where('e.deleted_at', 'is', null)
    .select([
      'e.id',
      'e.org_id',
      'e.app_id',
      'e.url',
      'e.description',
      'e.events',
      'e.secret_version',
      'e.headers_sealed',
      'e.standard_headers',
      'e.auto_pause',
      'e.auto_paused_at',
      'e.last_status',
      'e.last_attempt_at',
      'e.tls_error',
      'e.created_at',
      'e.updated_at',
      'l.max_per_second',
      'l.is_strict',
      'l.paused_at',
      's.prefix as secret_prefix',
    ])
    .select((eb) =>
      eb
        .selectFrom('webhook_secrets as older')
        .select((older) => older.fn.max('older.overlap_until').as('until'))
        .whereRef('older.endpoint_id', '=', 'e.id')
        .as('overlap_until'),
    )

export type EndpointRow = NonNullable<Awaited<ReturnType<typeof selectEndpoint>>>

/** Not a deleted one. */
export const selectEndpoint = (db: Connection, { orgId }: OrgActor, endpointId: string) =>
  endpoints(db, orgId).where('e.id', '=', endpointId).executeTakeFirst()

export const selectEndpoints = (db: Connection, { orgId }: OrgActor, page: { limit: number; offset: number }) =>
  endpoints(db, orgId).orderBy('e.created_at').orderBy('e.id').limit(page.limit).offset(page.offset).execute()

export async function countEndpointsOfOrg(db: Connection, { orgId }: OrgActor): Promise<number> {
  const { n } = await db
    .selectFrom('webhook_endpoints')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return n
}

/** One endpoint, also a deleted one. */
export const findEndpoint = (db: Connection, { orgId }: OrgActor, endpointId: string) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'deleted_at'])
    .where('id', '=', endpointId)
    .where('org_id', '=', orgId)
    .executeTakeFirst()

/** One endpoint, also a deleted one, locked until the transaction ends. */
export const lockEndpoint = (tx: Tx, { orgId }: OrgActor, endpointId: string) =>
  tx
    .selectFrom('webhook_endpoints')
    .select([
      'id',
      'url',
      'events',
      'description',
      'secret_version',
      'headers_sealed',
      'standard_headers',
      'auto_pause',
      'auto_paused_at',
      'deleted_at',
    ])
    .where('id', '=', endpointId)
    .where('org_id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirst()

export async function insertEndpoint(tx: Tx, endpoint: Insertable<Tables['webhook_endpoints']>): Promise<void> {
  await tx.insertInto('webhook_endpoints').values(endpoint).execute()
}

export async function changeEndpoint(
  tx: Tx,
  endpointId: string,
  change: Updateable<Tables['webhook_endpoints']>,
): Promise<void> {
  await tx.updateTable('webhook_endpoints').set(change).where('id', '=', endpointId).execute()
}

// Secrets

export async function insertSecret(tx: Tx, secret: Insertable<Tables['webhook_secrets']>): Promise<void> {
  await tx.insertInto('webhook_secrets').values(secret).execute()
}

/** Whether a secret before the current one signs too. */
export async function hasOverlap(tx: Tx, endpointId: string, now: Date): Promise<boolean> {
  const row = await tx
    .selectFrom('webhook_secrets')
    .select('version')
    .where('endpoint_id', '=', endpointId)
    .where('overlap_until', '>', now)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** From now on only this version signs beside the new one, until then; null: none does. */
export async function setOverlap(tx: Tx, endpointId: string, version: number, until: Date | null): Promise<void> {
  await tx
    .updateTable('webhook_secrets')
    .set({ overlap_until: sql<Date | null>`case when version = ${version} then ${until}::timestamptz end` })
    .where('endpoint_id', '=', endpointId)
    .execute()
}

export async function deleteSecrets(tx: Tx, endpointId: string): Promise<void> {
  await tx.deleteFrom('webhook_secrets').where('endpoint_id', '=', endpointId).execute()
}

// Days

/** Attempts per day since this one. */
export const selectDays = (db: Connection, endpointIds: readonly string[], since: string) =>
  db
    .selectFrom('webhook_days')
    .select(['endpoint_id', 'day', 'delivered', 'failed'])
    .where('endpoint_id', 'in', endpointIds)
    .where('day', '>=', since)
    .execute()
