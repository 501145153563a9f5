import { sql, type Insertable, type Selectable, type Updateable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { projectPart } from '../registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** SQL of releases, their commits and deploys. */

export type ReleaseRow = Selectable<Tables['releases']>
export type CommitRow = Selectable<Tables['release_commits']>
export type DeployRow = Selectable<Tables['deploys']>

/** @returns null for a release that does not exist, or belongs to another organisation */
export async function findRelease(db: Connection, orgId: string, releaseId: string): Promise<ReleaseRow | null> {
  const row = await db
    .selectFrom('releases as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .selectAll('r')
    .where('r.id', '=', releaseId)
    .where('p.org_id', '=', orgId)
    .executeTakeFirst()
  return row ?? null
}

/** The same with a lock on the row. */
export async function findReleaseByVersion(
  db: Connection,
  projectId: string,
  version: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('releases')
    .select('id')
    .where('project_id', '=', projectId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row?.id
}

export async function lockRelease(tx: Tx, orgId: string, releaseId: string): Promise<ReleaseRow | null> {
  const row = await tx
    .selectFrom('releases as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .selectAll('r')
    .where('r.id', '=', releaseId)
    .where('p.org_id', '=', orgId)
    .forNoKeyUpdate('r')
    .executeTakeFirst()
  return row ?? null
}

/** Creates a release, or opens a planned one. @returns null when the version exists otherwise */
export async function insertRelease(tx: Tx, release: Insertable<Tables['releases']>): Promise<ReleaseRow | null> {
  const row = await tx
    .insertInto('releases')
    .values({ ...release, state: 'open' })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'version'])
        .doUpdateSet((row) => ({
          state: 'open' as const,
          released_at: row.ref('excluded.released_at'),
          url: row.ref('excluded.url'),
          ref: row.ref('excluded.ref'),
        }))
        .where('releases.state', '=', 'planned'),
    )
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** Creates a planned release. @returns null when the version exists */
export async function insertPlanned(
  tx: Tx,
  release: Insertable<Tables['releases']>,
): Promise<{ orgId: string } | null> {
  const row = await tx
    .insertInto('releases')
    .values({ ...release, state: 'planned' })
    .onConflict((conflict) => conflict.columns(['project_id', 'version']).doNothing())
    .returning((eb) =>
      eb.selectFrom('projects').select('org_id').whereRef('projects.id', '=', 'releases.project_id').as('org_id'),
    )
    .executeTakeFirst()
  return row === undefined || row.org_id === null ? null : { orgId: row.org_id }
}

export async function updateReleaseRow(
  tx: Tx,
  releaseId: string,
  change: Updateable<Tables['releases']>,
): Promise<ReleaseRow> {
  return tx.updateTable('releases').set(change).where('id', '=', releaseId).returningAll().executeTakeFirstOrThrow()
}

/** Releases of a project among which the latest is looked for, the newest by date. */
const MAX_LATEST = 100

/** The latest open release of each project of an organisation, of those among `projectIds` if given: by version, then by date. */
export async function selectLatestReleases(
  db: Connection,
  orgId: string,
  projectIds: readonly string[] | undefined,
): Promise<{ readonly projectId: string; readonly version: string }[]> {
  const among = projectIds === undefined ? sql`true` : sql`p.id = any(${[...projectIds]}::uuid[])`
  const { rows } = await sql<{ projectId: string; version: string }>`
    select p.id as "projectId", r.version from projects p cross join lateral (
      select n.version from (
        select version, version_key, dated_at from releases where project_id = p.id and state = 'open'
        order by dated_at desc, id desc limit ${MAX_LATEST}
      ) n order by n.version_key desc, n.dated_at desc limit 1
    ) r where p.org_id = ${orgId} and ${among}`.execute(db)
  return rows
}

type NewCommit = Omit<Insertable<Tables['release_commits']>, 'position'>

/**
 * Takes commits newest first. New ones come before known ones, which keep their position and get the new values.
 * @returns how many are new or got another value
 */
export async function upsertCommits(tx: Tx, releaseId: string, commits: readonly NewCommit[]): Promise<number> {
  const { first } = await tx
    .selectFrom('release_commits')
    .select(sql<number>`coalesce(min(position), 0)`.as('first'))
    .where('release_id', '=', releaseId)
    .executeTakeFirstOrThrow()
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('release_commits')
    .values(commits.map((commit, index) => ({ ...commit, position: first - commits.length + index })))
    .onConflict((conflict) =>
      conflict
        .columns(['release_id', 'sha'])
        .doUpdateSet(
          Object.fromEntries(
            COMMIT_VALUES.map((name) => [
              name,
              sql`coalesce(excluded.${sql.ref(name)}, release_commits.${sql.ref(name)})`,
            ]),
          ),
        )
        .where(
          sql<boolean>`(${sql.join(
            COMMIT_VALUES.map(
              (name) =>
                sql`coalesce(excluded.${sql.ref(name)}, release_commits.${sql.ref(name)}) is distinct from release_commits.${sql.ref(name)}`,
            ),
            sql` or `,
          )})`,
        ),
    )
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows ?? 0)
}

/** Values of a commit that stay when an upload leaves them out. */
const COMMIT_VALUES = ['repository', 'message', 'author_name', 'author_email', 'committed_at', 'files'] as const

type Slice = { readonly limit: number; readonly offset: number }

export async function selectCommits(
  db: Connection,
  releaseId: string,
  { limit, offset }: Slice,
  after: number | null,
): Promise<CommitRow[]> {
  let query = db.selectFrom('release_commits').selectAll().where('release_id', '=', releaseId)
  if (after !== null) query = query.where('position', '>', after)
  return query.orderBy('position').limit(limit).offset(offset).execute()
}

export async function selectDeploys(
  db: Connection,
  releaseId: string,
  { limit, offset }: Slice,
  after: { readonly at: Date; readonly id: string } | null,
): Promise<DeployRow[]> {
  let query = db.selectFrom('deploys').selectAll().where('release_id', '=', releaseId)
  if (after !== null)
    query = query.where(sql<boolean>`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
}

export async function insertDeploy(tx: Tx, deploy: Insertable<Tables['deploys']>): Promise<DeployRow> {
  return tx.insertInto('deploys').values(deploy).returningAll().executeTakeFirstOrThrow()
}

/** Number of commits and deploys by release id. */
export async function countParts(
  db: Connection,
  releaseIds: readonly string[],
): Promise<Map<string, { commits: number; deploys: number }>> {
  const { rows } = await sql<{ id: string; commits: number; deploys: number }>`
    select k.id, (select count(*) from release_commits c where c.release_id = k.id) as commits,
      (select count(*) from deploys d where d.release_id = k.id) as deploys
    from unnest(${[...releaseIds]}::uuid[]) k (id)`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Characters of a commit's message in lists: whole messages of a hundred releases could be megabytes. */
const MAX_LISTED_MESSAGE = 500

/** The newest deploys and commits of each release, newest first. Messages are cut, files left out. */
export async function selectNewestParts(
  db: Connection,
  releaseIds: readonly string[],
  maxEach: number,
): Promise<{ commits: Omit<CommitRow, 'files'>[]; deploys: DeployRow[] }> {
  const ids = [...releaseIds]
  const commits = await sql<Omit<CommitRow, 'files'>>`
    select c.* from unnest(${ids}::uuid[]) k (id) cross join lateral (
      select release_id, project_id, sha, position, repository, left(message, ${MAX_LISTED_MESSAGE}) as message, author_name, author_email, committed_at
      from release_commits where release_id = k.id order by position limit ${maxEach}) c`.execute(db)
  const deploys = await sql<DeployRow>`
    select d.* from unnest(${ids}::uuid[]) k (id) cross join lateral (
      select * from deploys where release_id = k.id order by created_at desc, id desc limit ${maxEach}) d`.execute(db)
  return { commits: commits.rows, deploys: deploys.rows }
}

type MarkerRow = {
  release_id: string
  project_id: string
  platform: string
  version: string
  dated_at: Date
}

/** Newest first. */
export async function selectMarkers(
  db: Connection,
  orgId: string,
  {
    projectIds,
    from,
    to,
  }: { readonly projectIds: readonly string[] | undefined; readonly from: Date; readonly to: Date },
  max: number,
): Promise<MarkerRow[]> {
  let query = db
    .selectFrom('releases as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .select(['r.id as release_id', 'r.project_id', 'p.platform', 'r.version', 'r.dated_at'])
    .where('p.org_id', '=', orgId)
    .where('r.state', '=', 'open')
    .where('r.dated_at', '>=', from)
    .where('r.dated_at', '<', to)
  if (projectIds !== undefined) query = query.where('r.project_id', '=', sql<string>`any(${[...projectIds]}::uuid[])`)
  return query.orderBy('r.dated_at', 'desc').orderBy('r.id', 'desc').limit(max).execute()
}

export const RELEASE_PARTS = [
  projectPart(1_000, [ownRows('release_commits'), ownRows('deploys')]),
  projectPart(1_000, [ownRows('releases')]),
]
