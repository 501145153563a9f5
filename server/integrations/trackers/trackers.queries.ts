import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { sql, type Insertable, type Selectable, type Updateable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type IntegrationRow = Selectable<Tables['tracker_integrations']>
export type TicketRow = Selectable<Tables['tracker_tickets']>

// Integrations

export const selectIntegration = (db: Connection, orgId: string, projectId: string) =>
  db
    .selectFrom('tracker_integrations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .executeTakeFirst()

/** The integration of a project, if it is one of the provider. */
export const selectByProvider = (db: Connection, projectId: string, provider: IntegrationRow['provider']) =>
  db
    .selectFrom('tracker_integrations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('provider', '=', provider)
    .executeTakeFirst()

export const selectIntegrations = (db: Connection, ids: readonly string[]): Promise<IntegrationRow[]> =>
  db
    .selectFrom('tracker_integrations')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute()

export const selectByToken = (db: Connection, provider: IntegrationRow['provider'], tokenHash: Buffer) =>
  db
    .selectFrom('tracker_integrations')
    .selectAll()
    .where('provider', '=', provider)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()

/** Integrations that a delivery without the id of its integration may be for, oldest first. */
export const selectOfProvider = (
  db: Connection,
  provider: IntegrationRow['provider'],
  max: number,
): Promise<IntegrationRow[]> =>
  db
    .selectFrom('tracker_integrations')
    .selectAll()
    .where('provider', '=', provider)
    .orderBy('created_at')
    .limit(max)
    .execute()

/** Locks the project's integration, so that two members cannot connect at once. */
export const lockIntegration = (tx: Tx, orgId: string, projectId: string) =>
  tx
    .selectFrom('tracker_integrations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .forUpdate()
    .executeTakeFirst()

/** @returns false when the project has an integration already */
export async function insertIntegration(tx: Tx, row: Insertable<Tables['tracker_integrations']>): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('tracker_integrations')
    .values(row)
    .onConflict((conflict) => conflict.column('project_id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

export const changeIntegration = async (
  db: Connection,
  id: string,
  change: Updateable<Tables['tracker_integrations']>,
): Promise<void> => {
  await db.updateTable('tracker_integrations').set(change).where('id', '=', id).execute()
}

/** @returns false when it was marked before */
export async function markBroken(tx: Tx, id: string, configSealed: string, error: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tracker_integrations')
    .set({ broken_at: at, last_error: error, last_error_at: at })
    .where('id', '=', id)
    .where('broken_at', 'is', null)
    // Not when it was connected again since the call.
    .where('config_sealed', '=', configSealed)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const deleteIntegration = (tx: Tx, id: string) =>
  tx.deleteFrom('tracker_integrations').where('id', '=', id).execute()

// Tickets

export const selectTicket = (db: Connection, issueId: string) =>
  db.selectFrom('tracker_tickets').selectAll().where('issue_id', '=', issueId).executeTakeFirst()

export const lockTicket = (tx: Tx, issueId: string) =>
  tx.selectFrom('tracker_tickets').selectAll().where('issue_id', '=', issueId).forUpdate().executeTakeFirst()

export const selectByExternalId = (db: Connection, integrationId: string, externalId: string) =>
  db
    .selectFrom('tracker_tickets')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .where('external_id', '=', externalId)
    .where('state', '=', 'linked')
    .executeTakeFirst()

export type Lease = { readonly marker: string; readonly token: string; readonly isTakenOver: boolean }

type Claiming = {
  readonly issueId: string
  readonly integration: Pick<IntegrationRow, 'id' | 'org_id' | 'project_id' | 'provider'>
  readonly marker: string
  readonly token: string
  readonly leaseMs: number
  readonly userId: string | null
  readonly at: Date
}

/**
 * Takes the right to create the ticket of an issue: there is none, it was deleted, or the lease of another call ended.
 * Leases are on the clock of the database.
 * @returns null when there is a ticket or another call creates it
 */
export async function claimTicket(tx: Tx, claim: Claiming): Promise<Lease | null> {
  const { issueId, integration, marker, token, leaseMs, userId, at } = claim
  const until = sql<Date>`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`
  const given = {
    org_id: integration.org_id,
    project_id: integration.project_id,
    integration_id: integration.id,
    provider: integration.provider,
    state: 'creating' as const,
    marker,
    lease_token: token,
    lease_until: until,
    created_by: userId,
    created_at: at,
  }
  const made = await tx
    .insertInto('tracker_tickets')
    .values({ issue_id: issueId, ...given })
    .onConflict((conflict) => conflict.column('issue_id').doNothing())
    .executeTakeFirst()
  if ((made.numInsertedOrUpdatedRows ?? 0n) > 0n) return { marker, token, isTakenOver: false }
  const before = await lockTicket(tx, issueId)
  if (before === undefined || before.state === 'linked') return null
  // A marker belongs to the tracker in which it may have been used.
  if (before.state === 'gone' || before.integration_id !== integration.id) {
    if (before.state === 'creating' && !(await isLeaseOver(tx, issueId))) return null
    await tx
      .updateTable('tracker_tickets')
      .set({ ...given, external_id: null, key: null, url: null, remote_state: null, remote_status: null })
      .where('issue_id', '=', issueId)
      .execute()
    return { marker, token, isTakenOver: false }
  }
  const { numUpdatedRows } = await tx
    .updateTable('tracker_tickets')
    .set({ lease_token: token, lease_until: until })
    .where('issue_id', '=', issueId)
    .where('lease_until', '<', sql<Date>`clock_timestamp()`)
    .executeTakeFirst()
  return numUpdatedRows > 0n ? { marker: before.marker, token, isTakenOver: true } : null
}

const isLeaseOver = async (tx: Tx, issueId: string): Promise<boolean> =>
  (await tx
    .selectFrom('tracker_tickets')
    .select('issue_id')
    .where('issue_id', '=', issueId)
    .where('lease_until', '<', sql<Date>`clock_timestamp()`)
    .executeTakeFirst()) !== undefined

/** @returns false when another call took over */
export async function writeLinked(
  tx: Tx,
  issueId: string,
  token: string,
  linked: Updateable<Tables['tracker_tickets']>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tracker_tickets')
    .set({ ...linked, state: 'linked', lease_token: null, lease_until: null })
    .where('issue_id', '=', issueId)
    .where('lease_token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The call had no effect: the row goes. */
export const dropClaim = (db: Connection, issueId: string, token: string) =>
  db
    .deleteFrom('tracker_tickets')
    .where('issue_id', '=', issueId)
    .where('lease_token', '=', token)
    .where('state', '=', 'creating')
    .execute()

/** The call may have had an effect, and a repeated one cannot have a second: the next call may begin at once. */
export const endLease = (db: Connection, issueId: string, token: string) =>
  db
    .updateTable('tracker_tickets')
    .set({ lease_until: sql<Date>`clock_timestamp() - interval '1 millisecond'` })
    .where('issue_id', '=', issueId)
    .where('lease_token', '=', token)
    .execute()

export const changeTicket = async (
  tx: Tx,
  issueId: string,
  change: Updateable<Tables['tracker_tickets']>,
): Promise<void> => {
  await tx.updateTable('tracker_tickets').set(change).where('issue_id', '=', issueId).execute()
}

/** Linked tickets of issues whose integration follows states. */
export const selectFollowed = (tx: Tx, issueIds: readonly string[]) =>
  tx
    .selectFrom('tracker_tickets as t')
    .innerJoin('tracker_integrations as i', 'i.id', 't.integration_id')
    .select(['t.issue_id', 't.key', 'i.id as integration_id', 'i.org_id'])
    .where('t.issue_id', 'in', [...issueIds])
    .where('t.state', '=', 'linked')
    .where('i.sync_states', '=', true)
    .orderBy('t.issue_id')
    .execute()

export const markReopening = async (tx: Tx, issueIds: readonly string[]): Promise<void> => {
  await tx
    .updateTable('tracker_tickets')
    .set({ remote_state: 'reopening' })
    .where('issue_id', 'in', [...issueIds])
    .execute()
}

/** Tickets first: an integration leaves the links of its tickets. */
export const TRACKER_PART = projectPart(1_000, [ownRows('tracker_tickets'), ownRows('tracker_integrations')])
