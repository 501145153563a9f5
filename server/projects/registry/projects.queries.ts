import { sql, type Insertable, type Selectable, type SqlBool } from 'kysely'
import type { NameListing } from '../../platform/kernel/page-by-name.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** Projects and their keys. Reads issues and event counts. */

export type ProjectRow = Selectable<Tables['projects']>
export type ProjectKeyRow = Selectable<Tables['project_keys']>

export type ListedProject = ProjectRow & {
  readonly public_key: string | null
  /** The name in lower case, by the database's locale, as the sort uses it. */
  readonly folded_name: string
  readonly open_issues: number
  readonly events_24h: number
}

type ProjectListing = NameListing & { readonly orgId: string; readonly now: Date }

/** Returns a page of the organisation's projects by name (in any case) or time of creation, then by id. */
export async function listProjectRows(db: Connection, listing: ProjectListing): Promise<ListedProject[]> {
  const { orgId, sort, descending, limit, offset, after, now } = listing
  const direction = descending ? 'desc' : 'asc'
  const value = sort === 'name' ? sql`lower(projects.name)` : sql`projects.created_at`
  let query = db
    .selectFrom('projects')
    .selectAll('projects')
    .select((row) => [
      sql<string>`lower(projects.name)`.as('folded_name'),
      row
        .selectFrom('project_keys')
        .select('public_key')
        .whereRef('project_id', '=', 'projects.id')
        .where('expires_at', 'is', null)
        .where('disabled_at', 'is', null)
        .orderBy('place')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .as('public_key'),
      row
        .selectFrom('issues')
        .select((count) => count.fn.countAll<number>().as('n'))
        .whereRef('project_id', '=', 'projects.id')
        .where('status', 'in', ['unresolved', 'regressed', 'escalated'])
        .where('merged_into', 'is', null)
        .as('open_issues'),
      row
        .selectFrom('project_minutes')
        .select((sum) => sql<number>`coalesce(${sum.fn.sum('events')}, 0)::bigint`.as('n'))
        .whereRef('project_id', '=', 'projects.id')
        .where('minute', '>', new Date(now.getTime() - 86_400_000))
        .where('minute', '<=', now)
        .as('events_24h'),
    ])
    .where('org_id', '=', orgId)
    .orderBy(value, direction)
    .orderBy('projects.id', direction)
    .limit(limit)
    .offset(offset)
  if (after !== null) {
    const bound = sort === 'name' ? sql`${after.value}::text` : sql`${new Date(after.value)}::timestamptz`
    query = query.where(
      sql<SqlBool>`(${value}, projects.id) ${sql.raw(descending ? '<' : '>')} (${bound}, ${after.id}::uuid)`,
    )
  }
  const rows = await query.execute()
  return rows.map((row) => ({ ...row, open_issues: row.open_issues ?? 0, events_24h: row.events_24h ?? 0 }))
}

export async function countProjects(db: Connection, orgId: string): Promise<number> {
  const row = await db
    .selectFrom('projects')
    .select((count) => count.fn.countAll<number>().as('n'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return row.n
}

/** Returns null for unknown projects and those of other organisations. */
export async function readProject(db: Connection, orgId: string, projectId: string): Promise<ProjectRow | null> {
  const query = db.selectFrom('projects').selectAll().where('id', '=', projectId).where('org_id', '=', orgId)
  return (await query.executeTakeFirst()) ?? null
}

/** Null when the organisation has none of this slug. */
export async function readProjectBySlug(db: Connection, orgId: string, slug: string): Promise<ProjectRow | null> {
  const query = db.selectFrom('projects').selectAll().where('slug', '=', slug).where('org_id', '=', orgId)
  return (await query.executeTakeFirst()) ?? null
}

/** Locks a project, so that its changes run one after the other. */
export async function lockProject(tx: Tx, orgId: string, projectId: string): Promise<ProjectRow | null> {
  const query = tx.selectFrom('projects').selectAll().where('id', '=', projectId).where('org_id', '=', orgId)
  return (await query.forUpdate().executeTakeFirst()) ?? null
}

/** @returns null if the organisation already has a project with the slug */
export async function insertProject(tx: Tx, project: Insertable<Tables['projects']>): Promise<ProjectRow | null> {
  const row = await tx
    .insertInto('projects')
    .values(project)
    .onConflict((conflict) => conflict.columns(['org_id', 'slug']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** Whether the error is the unique violation of a slug. */
export const isSlugCollision = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === '23505' &&
  error.message.includes('projects_org_id_slug_key')

type ProjectChange = {
  readonly name: string
  readonly slug: string
  readonly settings: Record<string, unknown>
  readonly scrubKeySealed: string | null
}

export async function updateProjectRow(tx: Tx, projectId: string, change: ProjectChange): Promise<ProjectRow> {
  return tx
    .updateTable('projects')
    .set({
      name: change.name,
      slug: change.slug,
      settings: JSON.stringify(change.settings),
      scrub_key_sealed: change.scrubKeySealed,
    })
    .where('id', '=', projectId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Returns the keys of a project by their place, newest first. */
export function readProjectKeys(db: Connection, projectId: string): Promise<ProjectKeyRow[]> {
  return db
    .selectFrom('project_keys')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('place')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

type KeyChange = { readonly name: string; readonly rateLimit: number | null; readonly disabledAt: Date | null }

/** Stores the settings of a key. */
export async function setProjectKey(tx: Tx, keyId: string, change: KeyChange): Promise<void> {
  await tx
    .updateTable('project_keys')
    .set({ name: change.name, rate_limit_per_minute: change.rateLimit, disabled_at: change.disabledAt })
    .where('id', '=', keyId)
    .execute()
}

export async function insertProjectKey(tx: Tx, key: Insertable<Tables['project_keys']>): Promise<void> {
  await tx.insertInto('project_keys').values(key).execute()
}

/** @returns false when a project has the key already */
export async function insertFreeKey(tx: Tx, key: Insertable<Tables['project_keys']>): Promise<boolean> {
  const result = await tx
    .insertInto('project_keys')
    .values(key)
    .onConflict((conflict) => conflict.column('public_key').doNothing())
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

/** Makes the keys of a place expire at this time, unless they expire earlier. Returns the changed keys. */
export async function expireProjectKeys(
  tx: Tx,
  projectId: string,
  place: number,
  expiresAt: Date,
): Promise<ProjectKeyRow[]> {
  return tx
    .updateTable('project_keys')
    .set({ expires_at: expiresAt })
    .where('project_id', '=', projectId)
    .where('place', '=', place)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', expiresAt)]))
    .returningAll()
    .execute()
}

type OnboardingFacts = {
  readonly projects: boolean
  readonly requests: boolean
  readonly events: boolean /** Someone was invited or joined, also if they left since. */
  readonly invites: boolean
}

export async function readOnboardingFacts(db: Connection, orgId: string): Promise<OnboardingFacts> {
  const row = await db
    .selectFrom('projects')
    .select([
      sql<boolean>`count(*) > 0`.as('projects'),
      sql<boolean>`count(first_request_at) > 0`.as('requests'),
      sql<boolean>`count(first_event_at) > 0`.as('events'),
      sql<boolean>`exists (select from orgs where id = ${orgId} and first_invite_at is not null)
        or (select count(*) from (select 1 from memberships where org_id = ${orgId} limit 2) m) > 1`.as('invites'),
    ])
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return row
}

/** Ids of the projects of an organisation; of those among `ids`, if given. */
export async function selectIdsOfProjects(
  on: Connection,
  orgId: string,
  ids: readonly string[] | undefined,
): Promise<string[]> {
  if (ids?.length === 0) return []
  let query = on.selectFrom('projects').select('id').where('org_id', '=', orgId)
  if (ids !== undefined) query = query.where('id', 'in', [...ids])
  return (await query.execute()).map(({ id }) => id)
}

export async function isProjectInOrg(on: Connection, orgId: string, projectId: string): Promise<boolean> {
  const row = await on
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined
}

/** Counts those of the projects that belong to the organisation. */
export async function countProjectsAmong(
  on: Connection,
  orgId: string,
  projectIds: readonly string[],
): Promise<number> {
  const rows = await on
    .selectFrom('projects')
    .select('id')
    .where('org_id', '=', orgId)
    .where('id', 'in', [...projectIds])
    .execute()
  return rows.length
}

/** Returns the settings of every project, for jobs. */
export const selectAllSettings = (on: Connection) =>
  on.selectFrom('projects').select(['id', 'org_id', 'settings']).orderBy('id').execute()

/** Returns the settings of projects that received an event since this time. */
export const selectSettingsOfActive = (on: Connection, since: Date) =>
  on.selectFrom('projects').select(['id', 'settings']).where('last_event_at', '>=', since).orderBy('id').execute()

/** Returns the settings of a project of any organisation; undefined if it was deleted. */
export const selectSettings = (on: Connection, projectId: string) =>
  on.selectFrom('projects').select(['org_id', 'settings']).where('id', '=', projectId).executeTakeFirst()

/** Returns the columns of a project that an issue's page shows. */
export const selectProjectOfIssue = (on: Connection, projectId: string) =>
  on
    .selectFrom('projects')
    .select(['id', 'name', 'slug', 'platform', 'settings'])
    .where('id', '=', projectId)
    .executeTakeFirst()

/** Writes of intake and digestion to projects and their keys. */

type SeenKey = { readonly keyId: string; readonly projectId: string; readonly at: Date }

/** Stores when keys were last used, and the first request of their projects. */
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

type KeyRefusalOf = { readonly number: number; readonly reason: string; readonly at: Date }

/** Stores the last refusals of projects, by their numbers; unknown numbers are ignored. */
export async function writeRefusals(db: Connection, refusals: readonly KeyRefusalOf[]): Promise<void> {
  const numbers = refusals.map((one) => one.number)
  const reasons = refusals.map((one) => one.reason)
  const times = refusals.map((one) => one.at.toISOString())
  await sql`
    with given as (
      select p.id, k.reason, k.at
      from unnest(${numbers}::int[], ${reasons}::text[], ${times}::timestamptz[]) k (number, reason, at)
      join projects p on p.number = k.number order by p.id for no key update of p
    )
    update projects set key_refused_at = given.at, key_refused_reason = given.reason
    from given where projects.id = given.id`.execute(db)
}

/** The newest number of a short id, and the issues created in the hour and UTC day of the newest one. */
export type IssueNumbers = {
  readonly id: string
  readonly number: number
  readonly hour: Date | null
  readonly inHour: number
  readonly inDay: number
}

/** Locks the counters of new issues of projects, in the order of their ids. */
export async function lockIssueNumbers(tx: Tx, projectIds: readonly string[]): Promise<IssueNumbers[]> {
  const { rows } = await tx.query<IssueNumbers>({
    name: 'record-lock-numbers',
    text: `select id, issue_number as number, new_issues_hour as hour, new_issues_in_hour as "inHour", new_issues_in_day as "inDay"
           from projects where id = any($1::uuid[]) order by id for no key update`,
    values: [projectIds],
  })
  return rows
}

export function writeIssueNumbers(tx: Tx, rows: readonly IssueNumbers[]): void {
  tx.send({
    name: 'record-write-numbers',
    text: `update projects p set issue_number = k.number, new_issues_hour = k.hour, new_issues_in_hour = k.in_hour, new_issues_in_day = k.in_day
           from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::int[], $5::int[]) k (id, number, hour, in_hour, in_day)
           where p.id = k.id`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.number),
      rows.map((row) => row.hour),
      rows.map((row) => row.inHour),
      rows.map((row) => row.inDay),
    ],
  })
}

/** Adds to the events per minute of projects, except deleted ones. */
export function addMinutes(tx: Tx, rows: readonly { id: string; at: number; events: number; fatal: number }[]): void {
  tx.send({
    name: 'record-add-minutes',
    text: `insert into project_minutes (project_id, minute, events, fatal)
           select k.* from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::int[]) k (project_id, minute, events, fatal)
           where not exists (select from project_ids d where d.id = k.project_id and d.deleted_at is not null)
           on conflict (project_id, minute) do update set events = project_minutes.events + excluded.events, fatal = project_minutes.fatal + excluded.fatal`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => new Date(row.at)),
      rows.map((row) => row.events),
      rows.map((row) => row.fatal),
    ],
  })
}

/** Stores the times of the first request, and of the first and last event of projects. */
export function touchProjects(tx: Tx, rows: readonly { id: string; at: Date }[]): void {
  tx.send({
    name: 'record-touch-projects',
    text: `update projects p set first_request_at = coalesce(p.first_request_at, k.at), first_event_at = coalesce(p.first_event_at, k.at), last_event_at = greatest(p.last_event_at, k.at)
           from (select * from unnest($1::uuid[], $2::timestamptz[]) k (id, at) order by id) k where p.id = k.id`,
    values: [rows.map((row) => row.id), rows.map((row) => row.at)],
  })
}

/** Returns the columns of a project that digestion needs; undefined if it was deleted. */
export const selectProjectForDigestion = (on: Connection, projectId: string) =>
  on
    .selectFrom('projects')
    .select(['id', 'org_id', 'settings', 'scrub_key_sealed'])
    .where('id', '=', projectId)
    .executeTakeFirst()
