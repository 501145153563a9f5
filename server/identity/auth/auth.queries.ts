import { newPrefixedId, CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import { sql, type Expression, type Insertable, type Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Role } from '#shared/permissions.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** All SQL of accounts: organisations, users, memberships, sessions, signing keys, attempt counters. */

// Organisations

export async function orgDataKey(db: Connection, orgId: string): Promise<string> {
  const row = await db.selectFrom('orgs').select('data_key_sealed').where('id', '=', orgId).executeTakeFirstOrThrow()
  return row.data_key_sealed
}

export async function lockOrgDataKey(tx: Tx, orgId: string): Promise<string> {
  const row = await tx
    .selectFrom('orgs')
    .select('data_key_sealed')
    .where('id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return row.data_key_sealed
}

export async function setOrgDataKey(tx: Tx, orgId: string, sealed: string): Promise<void> {
  await tx.updateTable('orgs').set({ data_key_sealed: sealed }).where('id', '=', orgId).execute()
}

/** Whether members set up the installation: the organisation of the canary does not count. */
export async function anyOrgExists(db: Connection): Promise<boolean> {
  const query = db.selectFrom('orgs').select('id').where('id', '<>', CANARY_ORG_ID).limit(1)
  return (await query.executeTakeFirst()) !== undefined
}

/**
 * Whether someone operates the installation: owners of the organisation that set it up, which is the oldest that members
 * belong to.
 */
export async function isOperator(
  db: Connection,
  { orgId, role }: { readonly orgId: string; readonly role: string },
): Promise<boolean> {
  if (role !== 'owner') return false
  const first = await db
    .selectFrom('orgs')
    .select('id')
    .where('id', '<>', CANARY_ORG_ID)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return first?.id === orgId
}

/** Slugs that are the base itself or the base with a suffix. */
export async function orgSlugsLike(db: Connection, base: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('orgs')
    .select('slug')
    .where((where) => where.or([where('slug', '=', base), where('slug', 'like', `${base}-%`)]))
    .execute()
  return new Set(rows.map((row) => row.slug))
}

/** Inserts an organisation with its default application. */
export async function insertOrg(tx: Tx, org: Insertable<Tables['orgs']>): Promise<void> {
  await tx.insertInto('orgs').values(org).execute()
  const { id, name, created_at } = org
  await tx
    .insertInto('applications')
    .values({ id: newPrefixedId('app'), org_id: id, name, is_default: true, created_at })
    .execute()
}

/** Inserts an organisation that no member belongs to, without an application. */
export async function insertHiddenOrg(tx: Tx, org: Insertable<Tables['orgs']>): Promise<void> {
  await tx.insertInto('orgs').values(org).execute()
}

/** Creates the default application of an organisation that has none, because it is older than applications. */
export async function ensureDefaultApplication(tx: Tx, orgId: string, id: string, now: Date): Promise<void> {
  await tx
    .insertInto('applications')
    .columns(['id', 'org_id', 'name', 'is_default', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('orgs')
        .select((org) => [
          org.val(id).as('id'),
          'orgs.id as org_id',
          'orgs.name',
          org.lit(true).as('is_default'),
          org.val(now).as('created_at'),
        ])
        .where('orgs.id', '=', orgId),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

// Users

export type UserRow = Selectable<Tables['users']>

/** The user with this address, also a disabled one and one without memberships. */
export async function userByEmail(db: Connection, email: string): Promise<UserRow | null> {
  return (await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()) ?? null
}

/** Locks the user's row, so that new sessions and password changes of one user run one after the other. */
export async function lockUser(tx: Tx, userId: string): Promise<UserRow | null> {
  return (await tx.selectFrom('users').selectAll().where('id', '=', userId).forUpdate().executeTakeFirst()) ?? null
}

export async function readUser(db: Connection, userId: string): Promise<UserRow | null> {
  return (await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()) ?? null
}

/** @returns false when the address is taken */
export async function insertUser(tx: Tx, user: Insertable<Tables['users']>): Promise<boolean> {
  const result = await tx
    .insertInto('users')
    .values(user)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

export async function setUserName(tx: Tx, userId: string, name: string): Promise<void> {
  await tx.updateTable('users').set({ name }).where('id', '=', userId).execute()
}

/** Sets an address that the user has proved. The user's row is locked, and no other user has the address. */
export async function setUserEmail(tx: Tx, userId: string, email: string, provedAt: Date): Promise<void> {
  await tx.updateTable('users').set({ email, email_proved_at: provedAt }).where('id', '=', userId).execute()
}

/** Notes that the address is the user's, unless that is known. The user's row is locked. */
export async function markEmailProved(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email_proved_at: now })
    .where('id', '=', userId)
    .where('email_proved_at', 'is', null)
    .execute()
}

/** Deletes the user with memberships, sessions, devices and whatever else belongs only to them. */
export async function deleteUser(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('users').where('id', '=', userId).execute()
}

/** @returns whether the user had no device before */
export async function markFirstDevice(tx: Tx, userId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('users')
    .set({ first_device_at: now })
    .where('id', '=', userId)
    .where('first_device_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function setPasswordHash(tx: Tx, userId: string, hash: string, notBefore?: Date): Promise<void> {
  await tx
    .updateTable('users')
    .set({ password_hash: hash, ...(notBefore === undefined ? {} : { not_before: notBefore }) })
    .where('id', '=', userId)
    .execute()
}

/**
 * For a new session. The process that changed the password may have a clock that is ahead: until this one reaches its time,
 * it would refuse its own tokens. Sessions from before the change have ended.
 */
export async function lowerNotBefore(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx
    .updateTable('users')
    .set({ not_before: now })
    .where('id', '=', userId)
    .where('not_before', '>', now)
    .execute()
}

// Memberships

/**
 * Adds a member, also one who was removed before.
 * @returns false when the user is a member already, also a disabled one
 */
export async function insertMembership(tx: Tx, membership: Insertable<Tables['memberships']>): Promise<boolean> {
  const result = await tx
    .insertInto('memberships')
    .values(membership)
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'org_id'])
        .doUpdateSet((row) => ({
          role: row.ref('excluded.role'),
          created_at: row.ref('excluded.created_at'),
          last_used_at: null,
          disabled_at: null,
          removed_at: null,
        }))
        .where('memberships.removed_at', 'is not', null),
    )
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

export type MembershipRow = Awaited<ReturnType<typeof selectMemberships>>[number]

/** Memberships in which the user can have a session: neither they nor the user are disabled. */
const activeMemberships = (db: Connection, userId: string) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .innerJoin('orgs as o', 'o.id', 'm.org_id')
    .select(['m.user_id', 'm.org_id', 'm.role', 'u.name as user_name', 'o.slug as org_slug', 'o.name as org_name'])
    .where('m.user_id', '=', userId)
    .where('m.disabled_at', 'is', null)
    .where('u.disabled_at', 'is', null)

/** The active memberships of a user. The one used last comes first. */
export const selectMemberships = (db: Connection, userId: string) =>
  activeMemberships(db, userId)
    .orderBy('m.last_used_at', (order) => order.desc().nullsLast())
    .orderBy('m.created_at')
    .orderBy('m.org_id')
    .execute()

/** @returns null when the user is no member of the organisation, or no longer an active one */
export async function readMembership(db: Connection, userId: string, orgId: string): Promise<MembershipRow | null> {
  return (await activeMemberships(db, userId).where('m.org_id', '=', orgId).executeTakeFirst()) ?? null
}

export async function membershipInSlug(db: Connection, userId: string, slug: string): Promise<MembershipRow | null> {
  return (await activeMemberships(db, userId).where('o.slug', '=', slug).executeTakeFirst()) ?? null
}

export type OwnershipRow = {
  readonly org_id: string
  readonly org_name: string
  readonly other_owners: number
  readonly other_members: number
}

/** The organisations that this user owns, with the number of others in each who can log in. */
export function ownedOrgs(db: Connection, userId: string): Promise<OwnershipRow[]> {
  return db
    .selectFrom('memberships as own')
    .innerJoin('orgs as o', 'o.id', 'own.org_id')
    .select((own) => [
      'own.org_id',
      'o.name as org_name',
      othersIn(own.ref('own.org_id'), userId, true).as('other_owners'),
      othersIn(own.ref('own.org_id'), userId, false).as('other_members'),
    ])
    .where('own.user_id', '=', userId)
    .where('own.role', '=', 'owner')
    .orderBy('own.org_id')
    .execute()
}

const othersIn = (orgId: Expression<string>, userId: string, ownersOnly: boolean) => sql<number>`(
  select count(*)::integer from memberships m join users u on u.id = m.user_id
  where m.org_id = ${orgId} and m.user_id <> ${userId} and m.disabled_at is null and u.disabled_at is null
    and (m.role = 'owner' or not ${ownersOnly}::boolean))`

/** Owners of an organisation who can log in. */
export const selectOwners = (db: Connection, orgId: string) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id', 'u.email', 'u.name', 'u.password_hash'])
    .where('m.org_id', '=', orgId)
    .where('m.role', '=', 'owner')
    .where('m.disabled_at', 'is', null)
    .where('u.disabled_at', 'is', null)
    .orderBy('u.id')
    .execute()

/** Call it after every other write of the transaction: refreshes lock the session first and the membership second. */
export async function touchMembership(tx: Tx, userId: string, orgId: string, now: Date): Promise<void> {
  await tx
    .updateTable('memberships')
    .set({ last_used_at: now })
    .where('user_id', '=', userId)
    .where('org_id', '=', orgId)
    .execute()
}

// Sessions

export async function insertSession(tx: Tx, session: Insertable<Tables['sessions']>): Promise<void> {
  await tx.insertInto('sessions').values(session).execute()
}

/** A session with its user and role, cached for at most 5 s and dropped as soon as one of them changes. */
export type LiveSession = {
  readonly sessionId: string
  readonly userId: string
  readonly name: string
  readonly orgId: string
  readonly role: Role
  readonly expiresAt: Date
  /** It ends then without a refresh. */
  readonly idleExpiresAt: Date
  /** Tokens issued before are refused. */
  readonly notBefore: Date | null
}

export async function readLiveSession(db: Connection, sessionId: string): Promise<LiveSession | null> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .innerJoin('memberships', (join) =>
      join
        .onRef('memberships.user_id', '=', 'sessions.user_id')
        .onRef('memberships.org_id', '=', 'sessions.org_id')
        .on('memberships.disabled_at', 'is', null),
    )
    .select([
      'sessions.id',
      'sessions.user_id',
      'sessions.org_id',
      'sessions.expires_at',
      'sessions.idle_expires_at',
      'users.name',
      'users.not_before',
      'memberships.role',
    ])
    .where('sessions.id', '=', sessionId)
    .where('sessions.ended_at', 'is', null)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return null
  return {
    sessionId: row.id,
    userId: row.user_id,
    name: row.name,
    orgId: row.org_id,
    role: row.role,
    expiresAt: row.expires_at,
    idleExpiresAt: row.idle_expires_at,
    notBefore: row.not_before,
  }
}

export type SessionRow = Selectable<Tables['sessions']>

export async function readSession(db: Connection, sessionId: string): Promise<SessionRow | null> {
  return (await db.selectFrom('sessions').selectAll().where('id', '=', sessionId).executeTakeFirst()) ?? null
}

type LockedSession = SessionRow & {
  /** Time left until `hold_until` when the statement reached the database, before any wait for the lock. */
  readonly hold_left_ms: number | null
}

/** Locks the row, so that refreshes of one session run one after the other. */
export async function lockSession(tx: Tx, sessionId: string): Promise<LockedSession | null> {
  const row = await tx
    .selectFrom('sessions')
    .selectAll()
    .select(
      sql<number | null>`(extract(epoch from hold_until - statement_timestamp()) * 1000)::float8`.as('hold_left_ms'),
    )
    .where('id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

type Rotation = {
  readonly counter: number
  readonly holdMs: number
  readonly now: Date
  readonly idleExpiresAt: Date
  readonly ip: string
  readonly userAgent: string | null
}

/** `hold_until` uses the clock of the database, which all processes share. */
export async function rotateSession(tx: Tx, sessionId: string, rotation: Rotation): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({
      counter: rotation.counter,
      hold_until: sql<Date>`clock_timestamp() + ${rotation.holdMs}::float8 * interval '1 millisecond'`,
      last_used_at: rotation.now,
      idle_expires_at: rotation.idleExpiresAt,
      ip: rotation.ip,
      user_agent: rotation.userAgent,
    })
    .where('id', '=', sessionId)
    .execute()
}

export async function orgBySlug(db: Connection, slug: string): Promise<{ id: string; name: string } | null> {
  const query = db.selectFrom('orgs').select(['id', 'name']).where('slug', '=', slug).where('id', '<>', CANARY_ORG_ID)
  return (await query.executeTakeFirst()) ?? null
}

/** Ids of all organisations that members can belong to. */
export async function allOrgIds(db: Connection): Promise<string[]> {
  const query = db.selectFrom('orgs').select('id').where('id', '<>', CANARY_ORG_ID).orderBy('id')
  return (await query.execute()).map(({ id }) => id)
}

/** @returns whether the session was active */
export async function endSession(tx: Tx, sessionId: string, reason: string, now: Date): Promise<boolean> {
  const result = await tx
    .updateTable('sessions')
    .set({ ended_at: now, end_reason: reason })
    .where('id', '=', sessionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export type EndedSession = { readonly id: string; readonly org_id: string }

/** Sessions of a user: all, those of one organisation, all but one, or one. */
export type SessionsOf = {
  readonly userId: string
  readonly orgId?: string
  readonly exceptId?: string
  readonly onlyId?: string
}

/** @returns the sessions that were active */
export function endUserSessions(tx: Tx, of: SessionsOf, reason: string, now: Date): Promise<EndedSession[]> {
  let update = tx
    .updateTable('sessions')
    .set({ ended_at: now, end_reason: reason })
    .where('user_id', '=', of.userId)
    .where('ended_at', 'is', null)
  if (of.orgId !== undefined) update = update.where('org_id', '=', of.orgId)
  if (of.exceptId !== undefined) update = update.where('id', '<>', of.exceptId)
  if (of.onlyId !== undefined) update = update.where('id', '=', of.onlyId)
  return update.returning(['id', 'org_id']).execute()
}

/**
 * Ends the least recently used sessions beyond `max`, never the new one: the clocks of two processes may differ, and its
 * time is not always the latest.
 */
export function endSurplusSessions(
  tx: Tx,
  { userId, newId, max, now }: { userId: string; newId: string; max: number; now: Date },
): Promise<EndedSession[]> {
  return tx
    .updateTable('sessions')
    .set({ ended_at: now, end_reason: 'too_many' })
    .where('id', 'in', (from) =>
      from
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', userId)
        .where('ended_at', 'is', null)
        .where('id', '<>', newId)
        .orderBy('last_used_at', 'desc')
        .orderBy('id', 'desc')
        .offset(max - 1),
    )
    .returning(['id', 'org_id'])
    .execute()
}

/** Sessions of a user that can still be refreshed, the last used first. */
export function activeSessions(db: Connection, userId: string, now: Date) {
  return db
    .selectFrom('sessions as s')
    .innerJoin('orgs as o', 'o.id', 's.org_id')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 's.user_id').onRef('m.org_id', '=', 's.org_id').on('m.disabled_at', 'is', null),
    )
    .select(['s.id', 's.method', 's.ip', 's.user_agent', 's.authenticated_at', 's.created_at', 's.last_used_at'])
    .select(['s.expires_at', 'o.id as org_id', 'o.slug as org_slug', 'o.name as org_name'])
    .where('s.user_id', '=', userId)
    .where('s.ended_at', 'is', null)
    .where('s.idle_expires_at', '>', now)
    .where('s.expires_at', '>', now)
    .orderBy('s.last_used_at', 'desc')
    .orderBy('s.id', 'desc')
    .execute()
}

// Signing keys

export type SigningKeyRow = Selectable<Tables['signing_keys']>

/** The active key, the next one, then the retired ones, newest first. */
export function readSigningKeys(db: Connection): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('signing_keys')
    .selectAll()
    .orderBy(sql`array_position(array['active', 'next'], state)`)
    .orderBy('created_at', 'desc')
    .execute()
}

export async function insertSigningKey(tx: Tx, key: Insertable<Tables['signing_keys']>): Promise<void> {
  await tx.insertInto('signing_keys').values(key).execute()
}

export async function retireSigningKey(tx: Tx, kid: string, now: Date): Promise<void> {
  await tx.updateTable('signing_keys').set({ state: 'retired', retired_at: now }).where('kid', '=', kid).execute()
}

export async function activateSigningKey(tx: Tx, kid: string, now: Date): Promise<void> {
  await tx.updateTable('signing_keys').set({ state: 'active', activated_at: now }).where('kid', '=', kid).execute()
}

export async function deleteOldSigningKeys(tx: Tx, retiredBefore: Date): Promise<void> {
  await tx.deleteFrom('signing_keys').where('retired_at', '<', retiredBefore).execute()
}

// Attempt counters

type AttemptCount = {
  readonly bucket: string
  readonly key: string
  readonly now: Date
  readonly quota: number
  readonly windowMs: number
  /** Null: refused until the window ends. Else the first block, doubled with every strike up to `maxBlockMs`. */
  readonly firstBlockMs: number | null
  readonly maxBlockMs: number | null
}

type Counted = { window_started_at: Date; attempts: number; blocked_until: Date | null; strikes: number }

/**
 * Counts one attempt in one statement: parallel attempts get different numbers. A number up to the quota is allowed.
 *
 * With blocks, the attempt beyond the quota starts one. After it ends one attempt is allowed, and the next starts a block
 * twice as long. The counter starts again one window after the window's start or the last block's end.
 */
export async function countAttempt(db: Connection, count: AttemptCount): Promise<Counted> {
  const { bucket, key, now, quota, windowMs, firstBlockMs, maxBlockMs } = count
  const blocks = firstBlockMs !== null
  const result = await sql<Counted>`
    insert into attempt_counters as c (bucket, key, window_started_at, attempts)
    values (${bucket}, ${key}, ${now}, 1)
    on conflict (bucket, key) do update set (window_started_at, attempts, blocked_until, strikes) = (
      select
        case when s.fresh then ${now}::timestamptz when s.served then c.blocked_until else c.window_started_at end,
        case when s.fresh then 1 when s.blocked then s.quota + 2 when s.served then s.quota else least(c.attempts, 1000000) + 1 end,
        case
          when s.fresh or s.served then null
          when s.blocked then c.blocked_until
          when ${blocks} and c.attempts >= s.quota
            then ${now}::timestamptz + least(${firstBlockMs}::float8 * 2 ^ least(c.strikes, 20), ${maxBlockMs}::float8) * interval '1 millisecond'
        end,
        case when s.fresh then 0 when not s.blocked and not s.served and ${blocks} and c.attempts >= s.quota then c.strikes + 1 else c.strikes end
      from (
        select
          ${quota}::integer as quota,
          greatest(c.window_started_at, c.blocked_until) + ${windowMs}::float8 * interval '1 millisecond' <= ${now}::timestamptz as fresh,
          coalesce(c.blocked_until > ${now}::timestamptz, false) as blocked,
          coalesce(c.blocked_until <= ${now}::timestamptz, false) as served
      ) as s
    )
    returning window_started_at, attempts, blocked_until, strikes`.execute(db)
  const [row] = result.rows
  if (row === undefined) throw new Error('An attempt was not counted.')
  return row
}

/** Removes one attempt from the window it was counted in, and the row with the last one: most attempts are no failures. */
export async function uncountAttempt(
  db: Connection,
  bucket: string,
  key: string,
  windowStartedAt: Date,
): Promise<void> {
  const row = await db
    .updateTable('attempt_counters')
    .set((column) => ({ attempts: sql<number>`greatest(${column.ref('attempts')} - 1, 0)` }))
    .where('bucket', '=', bucket)
    .where('key', '=', key)
    .where('window_started_at', '=', windowStartedAt)
    .returning('attempts')
    .executeTakeFirst()
  if (row?.attempts !== 0) return
  // An attempt that was counted meanwhile keeps the row, and so does a block.
  await db
    .deleteFrom('attempt_counters')
    .where('bucket', '=', bucket)
    .where('key', '=', key)
    .where('attempts', '=', 0)
    .where('strikes', '=', 0)
    .where('blocked_until', 'is', null)
    .execute()
}

export async function deleteAttempts(db: Connection, bucket: string, key: string): Promise<void> {
  await db.deleteFrom('attempt_counters').where('bucket', '=', bucket).where('key', '=', key).execute()
}

export async function deleteOldAttempts(db: Connection, before: Date): Promise<void> {
  await db
    .deleteFrom('attempt_counters')
    .where('window_started_at', '<', before)
    .where((where) => where.or([where('blocked_until', 'is', null), where('blocked_until', '<', before)]))
    .execute()
}

/** @returns whether that changed the name of the organisation */
export async function setOrgName(tx: Tx, orgId: string, name: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('orgs')
    .set({ name })
    .where('id', '=', orgId)
    .where('name', '!=', name)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Sets how many events a day the organisation may send; null is without limit. @returns whether that changed it */
export async function updateOrgQuota(tx: Tx, orgId: string, eventsPerDay: number | null): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('orgs')
    .set({ events_per_day: eventsPerDay })
    .where('id', '=', orgId)
    .where('events_per_day', 'is distinct from', eventsPerDay)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * How many ways to sign in the user has: a password, passkeys, identities of single sign-on and of providers. The last one
 * must stay: lock the user's row before.
 */
export async function waysToSignIn(db: Connection, userId: string): Promise<number> {
  const { rows } = await sql<{ ways: number }>`
    select (
      (select count(*) from users where id = ${userId} and password_hash is not null)
      + (select count(*) from passkeys where user_id = ${userId})
      + (select count(*) from social_identities where user_id = ${userId})
      + (select count(*) from sso_identities where user_id = ${userId})
    )::integer as ways`.execute(db)
  return rows[0]?.ways ?? 0
}
