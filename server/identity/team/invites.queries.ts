import { sql, type Insertable, type Selectable } from 'kysely'
import type { NameListing } from '../../platform/kernel/page-by-name.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** SQL of invitations. Changes hold the lock of the organisation, see identity/auth/membership-changes.queries.ts. */

const invites = (db: Connection) =>
  db
    .selectFrom('invites as i')
    .leftJoin('users as u', 'u.id', 'i.invited_by')
    .select([
      'i.id',
      'i.org_id',
      'i.email',
      'i.role',
      'i.created_at',
      'i.sent_at',
      'i.expires_at',
      'u.id as inviter_id',
      'u.name as inviter_name',
    ])

export type InviteRow = Awaited<ReturnType<typeof selectInvites>>[number]

/** A page of invitations by email address or time, then by id. */
export function selectInvites(db: Connection, { orgId, ...listing }: NameListing & { readonly orgId: string }) {
  const { sort, descending, limit, offset, after } = listing
  const direction = descending ? 'desc' : 'asc'
  const value = sort === 'name' ? sql<string>`i.email` : sql<Date>`i.created_at`
  let query = invites(db)
    .select('i.email as folded_name')
    .where('i.org_id', '=', orgId)
    .orderBy(value, direction)
    .orderBy('i.id', direction)
    .limit(limit)
    .offset(offset)
  if (after !== null) {
    const bound = sort === 'name' ? sql`${after.value}::text` : sql`${new Date(after.value)}::timestamptz`
    query = query.where(sql<boolean>`(${value}, i.id) ${sql.raw(descending ? '<' : '>')} (${bound}, ${after.id}::uuid)`)
  }
  return query.execute()
}

export async function countInvites(db: Connection, orgId: string): Promise<number> {
  const row = await db
    .selectFrom('invites')
    .select((count) => count.fn.countAll<number>().as('n'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return row.n
}

export const readInviteRow = (db: Connection, orgId: string, inviteId: string) =>
  invites(db)
    .select('i.email as folded_name')
    .where('i.org_id', '=', orgId)
    .where('i.id', '=', inviteId)
    .executeTakeFirst()

/** The addresses that belong to members, also disabled ones. */
export async function membersWithEmails(tx: Tx, orgId: string, emails: readonly string[]): Promise<Set<string>> {
  if (emails.length === 0) return new Set()
  const rows = await tx
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select('u.email')
    .where('m.org_id', '=', orgId)
    .where('m.removed_at', 'is', null)
    .where('u.email', 'in', [...emails])
    .execute()
  return new Set(rows.map((row) => row.email))
}

/** Adds an invitation, or replaces an expired one. @returns its id; undefined when the address has an open one */
export async function insertInvite(tx: Tx, invite: Insertable<Tables['invites']>): Promise<string | undefined> {
  const row = await tx
    .insertInto('invites')
    .values(invite)
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'email'])
        .doUpdateSet((row) => ({
          id: row.ref('excluded.id'),
          role: row.ref('excluded.role'),
          invited_by: row.ref('excluded.invited_by'),
          token_hash: row.ref('excluded.token_hash'),
          created_at: row.ref('excluded.created_at'),
          sent_at: row.ref('excluded.sent_at'),
          expires_at: row.ref('excluded.expires_at'),
        }))
        .whereRef('invites.expires_at', '<=', 'excluded.created_at'),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

export async function renewInvite(
  tx: Tx,
  inviteId: string,
  renewal: { readonly token_hash: Buffer; readonly sent_at: Date; readonly expires_at: Date },
): Promise<void> {
  await tx.updateTable('invites').set(renewal).where('id', '=', inviteId).executeTakeFirstOrThrow()
}

export type OpenInvite = Selectable<Tables['invites']> & {
  readonly org_slug: string
  readonly org_name: string
  readonly inviter_name: string | null
}

/** The invitation with this token; undefined when it has expired. */
export const openInvite = (db: Connection, tokenHash: Buffer, now: Date): Promise<OpenInvite | undefined> =>
  db
    .selectFrom('invites as i')
    .innerJoin('orgs as o', 'o.id', 'i.org_id')
    .leftJoin('users as u', 'u.id', 'i.invited_by')
    .selectAll('i')
    .select(['o.slug as org_slug', 'o.name as org_name', 'u.name as inviter_name'])
    .where('i.token_hash', '=', tokenHash)
    .where('i.expires_at', '>', now)
    .executeTakeFirst()

/** Removes an invitation with this token. @returns whether it was there: it can be accepted once */
export async function takeInvite(tx: Tx, inviteId: string, tokenHash: Buffer): Promise<boolean> {
  const result = await tx
    .deleteFrom('invites')
    .where('id', '=', inviteId)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return result.numDeletedRows === 1n
}

export async function deleteInvite(tx: Tx, inviteId: string): Promise<void> {
  await tx.deleteFrom('invites').where('id', '=', inviteId).execute()
}

/** Deletes the invites of the organisation to the present address of a user. */
export function deleteInvitesTo(tx: Tx, orgId: string, userId: string) {
  return tx
    .deleteFrom('invites')
    .where('org_id', '=', orgId)
    .where('email', '=', (from) => from.selectFrom('users').select('email').where('id', '=', userId))
    .returning(['id', 'email', 'role'])
    .execute()
}
