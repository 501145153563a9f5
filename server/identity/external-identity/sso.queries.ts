import type { Insertable, Selectable, Updateable } from 'kysely'
import { CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

// Configuration

export type SsoConfigRow = Selectable<Tables['sso_configs']>

export async function selectSsoConfig(db: Connection, orgId: string): Promise<SsoConfigRow | null> {
  return (await db.selectFrom('sso_configs').selectAll().where('org_id', '=', orgId).executeTakeFirst()) ?? null
}

/** Locks the organisation first: there may be no configuration yet. */
export async function lockConfig(tx: Tx, orgId: string): Promise<SsoConfigRow | null> {
  await tx.selectFrom('orgs').select('id').where('id', '=', orgId).forNoKeyUpdate().executeTakeFirstOrThrow()
  return selectSsoConfig(tx, orgId)
}

/** The configuration of the organisation with this slug. One query: an unknown organisation must cost the same. */
export async function configOfSlug(db: Connection, slug: string): Promise<SsoConfigRow | null> {
  const row = await db
    .selectFrom('sso_configs as c')
    .innerJoin('orgs as o', 'o.id', 'c.org_id')
    .selectAll('c')
    .where('o.slug', '=', slug)
    .executeTakeFirst()
  return row ?? null
}

export async function orgIdOfSlug(db: Connection, slug: string): Promise<string | null> {
  const query = db.selectFrom('orgs').select('id').where('slug', '=', slug).where('id', '<>', CANARY_ORG_ID)
  return (await query.executeTakeFirst())?.id ?? null
}

export async function readOrgSlug(db: Connection, orgId: string): Promise<string> {
  return (await db.selectFrom('orgs').select('slug').where('id', '=', orgId).executeTakeFirstOrThrow()).slug
}

export async function insertConfig(tx: Tx, config: Insertable<Tables['sso_configs']>): Promise<void> {
  await tx.insertInto('sso_configs').values(config).execute()
}

export async function updateConfig(tx: Tx, orgId: string, change: Updateable<Tables['sso_configs']>): Promise<void> {
  await tx.updateTable('sso_configs').set(change).where('org_id', '=', orgId).execute()
}

/** With domains, transactions and pending links. */
export async function deleteConfig(tx: Tx, orgId: string): Promise<void> {
  await tx.deleteFrom('sso_identities').where('org_id', '=', orgId).execute()
  await tx.deleteFrom('sso_configs').where('org_id', '=', orgId).execute()
}

/** Not part of the configuration: `updated_at` stays. */
export async function noteResult(db: Connection, orgId: string, error: string | null, now: Date): Promise<void> {
  await db
    .updateTable('sso_configs')
    .set({ last_error: error, last_error_at: error === null ? null : now })
    .where('org_id', '=', orgId)
    .where((where) => where.or([where('last_error', 'is not', null), where.val(error !== null)]))
    .execute()
}

// Domains

export type DomainRow = Selectable<Tables['sso_domains']>

export function selectSsoDomains(db: Connection, orgId: string): Promise<DomainRow[]> {
  return db.selectFrom('sso_domains').selectAll().where('org_id', '=', orgId).orderBy('domain').execute()
}

export async function readDomain(db: Connection, orgId: string, domain: string): Promise<DomainRow | null> {
  const query = db.selectFrom('sso_domains').selectAll().where('org_id', '=', orgId).where('domain', '=', domain)
  return (await query.executeTakeFirst()) ?? null
}

export async function insertDomains(tx: Tx, domains: readonly Insertable<Tables['sso_domains']>[]): Promise<void> {
  if (domains.length > 0)
    await tx
      .insertInto('sso_domains')
      .values([...domains])
      .execute()
}

export async function deleteDomainsExcept(tx: Tx, orgId: string, kept: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('sso_domains')
    .where('org_id', '=', orgId)
    .where((where) => where.not(where('domain', 'in', kept.length === 0 ? [''] : [...kept])))
    .execute()
}

/** The organisation that has proved the domain. */
export async function verifiedElsewhere(db: Connection, orgId: string, domain: string): Promise<DomainRow | null> {
  const row = await db
    .selectFrom('sso_domains')
    .selectAll()
    .where('domain', '=', domain)
    .where('org_id', '<>', orgId)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return row ?? null
}

export async function updateDomain(
  db: Connection,
  { org_id, domain }: Pick<DomainRow, 'org_id' | 'domain'>,
  change: Updateable<Tables['sso_domains']>,
): Promise<void> {
  await db.updateTable('sso_domains').set(change).where('org_id', '=', org_id).where('domain', '=', domain).execute()
}

/** Verified domains whose record must be looked at again: not seen since `seenBefore`, or missing. */
export function domainsToCheck(db: Connection, seenBefore: Date): Promise<DomainRow[]> {
  return db
    .selectFrom('sso_domains')
    .selectAll()
    .where('verified_by', '=', 'dns')
    .where((where) => where.or([where('checked_at', '<', seenBefore), where('missing_since', 'is not', null)]))
    .orderBy('checked_at')
    .execute()
}

export async function isVerified(db: Connection, orgId: string, domain: string): Promise<boolean> {
  return (await readDomain(db, orgId, domain))?.verified_at != null
}

/** After a change of the provider: browsers on the way to the old one must not come back. */
export async function deleteAttempts(tx: Tx, orgId: string): Promise<void> {
  await tx.deleteFrom('sso_transactions').where('org_id', '=', orgId).execute()
  await tx.deleteFrom('sso_pending_links').where('org_id', '=', orgId).execute()
}

// Members

/** Also a disabled membership, or one of a disabled user. */
export async function anyMembership(
  db: Connection,
  userId: string,
  orgId: string,
): Promise<Pick<Selectable<Tables['memberships']>, 'role' | 'disabled_at'> | null> {
  const row = await db
    .selectFrom('memberships')
    .select(['role', 'disabled_at'])
    .where('user_id', '=', userId)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row ?? null
}

/** Active sessions of an organisation that began with single sign-on, or otherwise. */
export function sessionsOfOrg(
  db: Connection,
  orgId: string,
  began: 'by_sso' | 'otherwise',
): Promise<{ readonly id: string; readonly user_id: string }[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'user_id'])
    .where('org_id', '=', orgId)
    .where('method', began === 'by_sso' ? '=' : '<>', 'oidc')
    .where('ended_at', 'is', null)
    .execute()
}

/** Active members, in the order in which they are locked. */
export const selectActiveMemberIds = (db: Connection, orgId: string): Promise<{ readonly id: string }[]> =>
  db
    .selectFrom('memberships')
    .select('user_id as id')
    .where('org_id', '=', orgId)
    .where('disabled_at', 'is', null)
    .orderBy('user_id')
    .execute()
