import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { projectPart } from '../../projects/registry/project-rows.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** Connections to code hosts, and their deliveries. */

export type CodeHostRow = Selectable<Tables['code_hosts']>

/** Undefined without a connection, and for a deleted project, whose rows go later. */
export const selectCodeHost = (on: Connection, projectId: string) =>
  on
    .selectFrom('code_hosts as h')
    .innerJoin('projects as p', 'p.id', 'h.project_id')
    .selectAll('h')
    .where('h.project_id', '=', projectId)
    .executeTakeFirst()

export const lockCodeHost = (tx: Tx, projectId: string) =>
  tx.selectFrom('code_hosts').selectAll().where('project_id', '=', projectId).forUpdate().executeTakeFirst()

/** Locks the project, so that two members who connect it wait for each other. */
export const lockProjectRow = (tx: Tx, orgId: string, projectId: string) =>
  tx
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('org_id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirst()

export async function insertCodeHost(tx: Tx, row: Insertable<Tables['code_hosts']>): Promise<void> {
  await tx.insertInto('code_hosts').values(row).execute()
}

export async function changeCodeHost(
  on: Connection,
  projectId: string,
  change: Updateable<Tables['code_hosts']>,
): Promise<void> {
  await on.updateTable('code_hosts').set(change).where('project_id', '=', projectId).execute()
}

/** Deletes the connection and what is known through it; links of issues stay. */
export async function deleteCodeHost(tx: Tx, projectId: string): Promise<void> {
  for (const table of ['code_hosts', 'code_host_deliveries', 'host_files', 'host_tags', 'host_commits'] as const)
    await tx.deleteFrom(table).where('project_id', '=', projectId).execute()
}

// Deliveries

export type DeliveryRow = Selectable<Tables['code_host_deliveries']>

/** Counts the deliveries that wait, and their bytes. */
export async function measureWaiting(on: Connection, projectId: string): Promise<{ waiting: number; bytes: number }> {
  return on
    .selectFrom('code_host_deliveries')
    .select((eb) => [
      eb.fn.countAll<number>().as('waiting'),
      sql<number>`coalesce(sum(octet_length(body)), 0)::float8`.as('bytes'),
    ])
    .where('project_id', '=', projectId)
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow()
}

/** @returns false when the delivery is known; one that failed is taken again */
export async function insertDelivery(tx: Tx, row: Insertable<Tables['code_host_deliveries']>): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('code_host_deliveries')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'delivery_id'])
        .doUpdateSet({ state: row.state, body: row.body, received_at: row.received_at })
        .where('code_host_deliveries.state', '=', 'failed'),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

export const selectDelivery = (on: Connection, projectId: string, deliveryId: string) =>
  on
    .selectFrom('code_host_deliveries')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst()

export async function settleDelivery(
  on: Connection,
  { projectId, deliveryId }: { readonly projectId: string; readonly deliveryId: string },
  change: Pick<DeliveryRow, 'state' | 'summary'>,
): Promise<void> {
  await on
    .updateTable('code_host_deliveries')
    .set({ ...change, body: null })
    .where('project_id', '=', projectId)
    .where('delivery_id', '=', deliveryId)
    .execute()
}

export const selectNewestDeliveries = (on: Connection, projectId: string, max: number) =>
  on
    .selectFrom('code_host_deliveries')
    .select(['delivery_id', 'event', 'received_at', 'state', 'summary'])
    .where('project_id', '=', projectId)
    .orderBy('received_at', 'desc')
    .limit(max)
    .execute()

/** Notes a request with a wrong signature, at most once per minute: strangers may send any number. */
export async function noteRefused(on: Connection, projectId: string, now: Date): Promise<void> {
  await on
    .updateTable('code_hosts')
    .set({ refused_at: now })
    .where('project_id', '=', projectId)
    .where((row) => row.or([row('refused_at', 'is', null), row('refused_at', '<', new Date(now.getTime() - 60_000))]))
    .execute()
}

export const DELIVERY_ROWS = ownRows('code_host_deliveries')

export const CODE_HOST_PARTS = [
  projectPart(1_000, [DELIVERY_ROWS, ownRows('host_files'), ownRows('host_tags')]),
  projectPart(200, [ownRows('host_commits')]),
  projectPart(1_000, [ownRows('host_mentions'), ownRows('code_hosts')]),
]
