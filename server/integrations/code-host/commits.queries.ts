import { type Insertable, type Selectable, sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** Known commits of repositories, their files and tags, and how releases and issues use them. */

export type KnownCommit = Selectable<Tables['host_commits']>
export type NewKnownCommit = Omit<Insertable<Tables['host_commits']>, 'seq' | 'name_keys' | 'file_count' | 'files'> & {
  /** JSON. */
  readonly files: string | null
  readonly names: readonly string[]
}

/** A name of a file as the index of commits holds it: the index is one for all projects. */
const nameKey = (projectId: string, name: string): string => `${projectId.slice(-12)}/${name.toLowerCase()}`

export const nameKeys = (projectId: string, names: readonly string[]): string[] =>
  [...new Set(names)].map((name) => nameKey(projectId, name))

/**
 * Adds commits, oldest first. A known commit takes what is new: its files, and that it came to the default branch, where
 * it then is the newest.
 * @returns hashes of those that are new on the default branch
 */
export async function upsertKnownCommits(tx: Tx, commits: readonly NewKnownCommit[]): Promise<Set<string>> {
  const fresh = new Set<string>()
  for (const { names, files, ...commit } of commits) {
    const keys = nameKeys(commit.project_id, names)
    const before = await tx
      .selectFrom('host_commits')
      .select('is_default')
      .where('project_id', '=', commit.project_id)
      .where('sha', '=', commit.sha)
      .executeTakeFirst()
    if (commit.is_default && before?.is_default !== true) fresh.add(commit.sha)
    if (before !== undefined && commit.is_default && !before.is_default)
      // A new number in the order: a row with an identity gets one only when it is written again.
      await tx
        .deleteFrom('host_commits')
        .where('project_id', '=', commit.project_id)
        .where('sha', '=', commit.sha)
        .execute()
    await tx
      .insertInto('host_commits')
      .values({ ...commit, files, name_keys: keys, file_count: files === null ? null : names.length })
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'sha']).doUpdateSet((row) => ({
          files: sql`coalesce(host_commits.files, excluded.files)`,
          name_keys: sql`case when host_commits.files is null then excluded.name_keys else host_commits.name_keys end`,
          file_count: sql`case when host_commits.files is null then excluded.file_count else host_commits.file_count end`,
          author_login: sql`coalesce(host_commits.author_login, excluded.author_login)`,
          is_wanted: sql<boolean>`host_commits.is_wanted or (host_commits.files is null and ${row.ref('excluded.is_wanted')})`,
        })),
      )
      .execute()
  }
  return fresh
}

export async function writeFiles(
  on: Connection,
  { projectId, sha }: { readonly projectId: string; readonly sha: string },
  files: string | null,
  names: readonly string[],
): Promise<void> {
  await on
    .updateTable('host_commits')
    .set(
      files === null
        ? { is_wanted: false }
        : { is_wanted: false, files, name_keys: nameKeys(projectId, names), file_count: names.length },
    )
    .where('project_id', '=', projectId)
    .where('sha', '=', sha)
    .execute()
}

/** The newest commits whose files are to be fetched. */
export const selectWanted = (on: Connection, projectId: string, max: number) =>
  on
    .selectFrom('host_commits')
    .select('sha')
    .where('project_id', '=', projectId)
    .where('is_wanted', '=', true)
    .orderBy('seq', 'desc')
    .limit(max)
    .execute()

/** A new token: the newest commits of the default branch without lines are wanted. */
export async function wantLines(tx: Tx, projectId: string, max: number): Promise<void> {
  await sql`
    update host_commits c set is_wanted = true
    from (select sha from host_commits where project_id = ${projectId} and is_default order by seq desc limit ${max}) newest
    where c.project_id = ${projectId} and c.sha = newest.sha`.execute(tx)
}

/** Commits that a force-push took from the default branch. */
export async function leaveDefault(tx: Tx, projectId: string, shas: readonly string[]): Promise<void> {
  await tx
    .updateTable('host_commits')
    .set({ is_default: false })
    .where('project_id', '=', projectId)
    .where('sha', '=', sql<string>`any(${[...shas]}::text[])`)
    .execute()
}

const lookup = (on: Connection, projectId: string, sha: string) =>
  on.selectFrom('host_commits').where('project_id', '=', projectId).where('sha', '>=', sha).where('sha', '<', `${sha}g`)

/** A commit by its hash or the beginning of it. */
export const findKnownCommit = (on: Connection, projectId: string, sha: string) =>
  lookup(on, projectId, sha).select(['sha', 'seq', 'is_default']).limit(1).executeTakeFirst()

/** Commits of the default branch after one and up to another, newest first. */
export const selectRange = (on: Connection, projectId: string, after: number | null, upTo: number, max: number) => {
  const query = on
    .selectFrom('host_commits')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('is_default', '=', true)
    .where('seq', '<=', upTo)
  return (after === null ? query : query.where('seq', '>', after)).orderBy('seq', 'desc').limit(max).execute()
}

/** Known commits among the hashes. */
export const selectKnown = (on: Connection, projectId: string, shas: readonly string[]) =>
  on
    .selectFrom('host_commits')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('sha', '=', sql<string>`any(${[...shas]}::text[])`)
    .execute()

/** Commits that changed a file with one of these names, newest first. */
export const selectTouching = (on: Connection, projectId: string, keys: readonly string[], before: Date, max: number) =>
  on
    .selectFrom('host_commits')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('committed_at', '<=', before)
    .where(sql<boolean>`name_keys && ${[...keys]}::text[]`)
    .orderBy('committed_at', 'desc')
    .limit(max)
    .execute()

export async function measureCommits(
  on: Connection,
  projectId: string,
): Promise<{ commits: number; newest: Date | null }> {
  return on
    .selectFrom('host_commits')
    .select((eb) => [eb.fn.countAll<number>().as('commits'), eb.fn.max('committed_at').as('newest')])
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
}

/** Deletes the oldest commits beyond `max` of each project, in one statement. */
export async function deleteOldCommits(on: Connection, max: number): Promise<void> {
  await sql`
    delete from host_commits c using (
      select h.project_id, (select seq from host_commits o where o.project_id = h.project_id order by seq desc offset ${max} limit 1) as last
      from (select distinct project_id from host_commits) h
    ) old where c.project_id = old.project_id and c.seq <= old.last`.execute(on)
}

// Files of the default branch

/** Adds and removes paths, within the bound of the project. */
export async function changePaths(
  tx: Tx,
  projectId: string,
  added: readonly { readonly path: string; readonly name: string }[],
  removed: readonly string[],
  max: number,
): Promise<void> {
  if (removed.length > 0)
    await tx
      .deleteFrom('host_files')
      .where('project_id', '=', projectId)
      .where('path', '=', sql<string>`any(${[...removed]}::text[])`)
      .execute()
  if (added.length > 0)
    await sql`
      insert into host_files (project_id, path, name)
      select ${projectId}, k.path, k.name from unnest(${added.map(({ path }) => path)}::text[], ${added.map(({ name }) => name)}::text[]) k (path, name)
      limit greatest(0, ${max} - (select count(*) from host_files where project_id = ${projectId}))
      on conflict do nothing`.execute(tx)
}

export async function clearPaths(tx: Tx, projectId: string): Promise<void> {
  await tx.deleteFrom('host_files').where('project_id', '=', projectId).execute()
}

/** Paths of files with one of these names in lower case. */
export async function selectPaths(
  on: Connection,
  projectId: string,
  names: readonly string[],
  max: number,
): Promise<string[]> {
  const rows = await on
    .selectFrom('host_files')
    .select('path')
    .where('project_id', '=', projectId)
    .where('name', '=', sql<string>`any(${[...names]}::text[])`)
    .limit(max)
    .execute()
  return rows.map(({ path }) => path)
}

export async function countPaths(on: Connection, projectId: string): Promise<number> {
  const { n } = await on
    .selectFrom('host_files')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return n
}

// Tags

export async function putTag(tx: Tx, row: Insertable<Tables['host_tags']>): Promise<void> {
  await tx
    .insertInto('host_tags')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'tag']).doUpdateSet({ sha: row.sha, tagged_at: row.tagged_at }),
    )
    .execute()
}

export async function deleteTag(tx: Tx, projectId: string, tag: string): Promise<void> {
  await tx.deleteFrom('host_tags').where('project_id', '=', projectId).where('tag', '=', tag).execute()
}

/** Keeps the newest tags of a project. */
export async function trimTags(tx: Tx, projectId: string, max: number): Promise<void> {
  await sql`
    delete from host_tags where project_id = ${projectId} and tag in (
      select tag from host_tags where project_id = ${projectId} order by tagged_at desc, tag offset ${max})`.execute(tx)
}

export const selectTags = (on: Connection, projectId: string) =>
  on.selectFrom('host_tags').select(['tag', 'sha']).where('project_id', '=', projectId).execute()

// Releases

export const selectReleases = (on: Connection, projectId: string, max: number) =>
  on
    .selectFrom('releases as r')
    .selectAll('r')
    .select((eb) =>
      eb
        .selectFrom('release_commits as c')
        .select('c.sha')
        .whereRef('c.release_id', '=', 'r.id')
        .orderBy('c.position')
        .limit(1)
        .as('head'),
    )
    .where('r.project_id', '=', projectId)
    .orderBy('r.dated_at', 'desc')
    .orderBy('r.id', 'desc')
    .limit(max)
    .execute()

export const selectReleaseByVersion = (on: Connection, projectId: string, version: string) =>
  on
    .selectFrom('releases as r')
    .select(['r.id', 'r.version', 'r.ref', 'r.first_seen_at', 'r.created_at'])
    .select((eb) => [
      eb
        .selectFrom('release_commits as c')
        .select('c.sha')
        .whereRef('c.release_id', '=', 'r.id')
        .orderBy('c.position')
        .limit(1)
        .as('head'),
      eb
        .selectFrom('release_commits as c')
        .select((of) => of.fn.countAll<number>().as('n'))
        .whereRef('c.release_id', '=', 'r.id')
        .as('commits'),
    ])
    .where('r.project_id', '=', projectId)
    .where('r.version', '=', version)
    .executeTakeFirst()

/** Commits of a release that named files but are not known yet, or lack files that are known; both by hash. */
export const selectCommitsOfRelease = (on: Connection, releaseId: string, max: number) =>
  on
    .selectFrom('release_commits')
    .selectAll()
    .where('release_id', '=', releaseId)
    .orderBy('position')
    .limit(max)
    .execute()

/** Numbers of a pull request in the message of a merge or squash, at GitHub and GitLab. For PostgreSQL and JavaScript alike. */
export const PULL_IN_MESSAGE = [
  String.raw`\(#(\d{1,9})\)\s*(?:\n|$)`,
  String.raw`^Merge pull request #(\d{1,9})`,
  String.raw`See merge request \S{0,200}!(\d{1,9})`,
] as const

export type ReleaseMeasures = {
  readonly commits: number
  readonly authors: number
  /** Null when no commit says its files. */
  readonly files: number | null
  /** More files are not counted. */
  readonly are_files_cut: boolean
  readonly pulls: number
}

/** Counts authors, files and pull requests of the newest commits of a release. */
export async function measureRelease(
  on: Connection,
  releaseId: string,
  { maxCommits, maxFiles }: { readonly maxCommits: number; readonly maxFiles: number },
): Promise<ReleaseMeasures> {
  const pull = sql.join(PULL_IN_MESSAGE.map((pattern) => sql`substring(c.message from ${pattern})`))
  const { rows } = await sql<ReleaseMeasures>`
    with c as (select * from release_commits where release_id = ${releaseId} order by position limit ${maxCommits}),
      f as (select file ->> 'path' as path from c cross join lateral jsonb_array_elements(c.files) file limit ${maxFiles + 1})
    select count(*) as commits, count(distinct lower(coalesce(c.author_email, c.author_name))) as authors,
      case when count(c.files) > 0 then (select count(distinct path) from f) end as files,
      (select count(*) from f) > ${maxFiles} as are_files_cut, count(distinct coalesce(${pull})) as pulls
    from c`.execute(on)
  const [row] = rows
  if (row === undefined) throw new Error('An aggregate without groups has one row.')
  return row
}

/** The release that ends where this one begins: it has the commit before the oldest one. */
export async function selectReleaseBefore(
  on: Connection,
  projectId: string,
  releaseId: string,
): Promise<{ readonly id: string; readonly version: string } | undefined> {
  const { rows } = await sql<{ id: string; version: string }>`
    select r.id, r.version from (
      select before.sha from (
        select known.seq from release_commits own join host_commits known on known.project_id = own.project_id and known.sha = own.sha
        where own.release_id = ${releaseId} order by own.position desc limit 1
      ) oldest, lateral (
        select sha from host_commits where project_id = ${projectId} and is_default and seq < oldest.seq order by seq desc limit 1
      ) before
    ) last join release_commits c on c.project_id = ${projectId} and c.sha = last.sha join releases r on r.id = c.release_id
    where r.id <> ${releaseId} order by r.dated_at limit 1`.execute(on)
  return rows[0]
}

/** A release that has a fix, with its newest deploy that ended; and whether the project reports deploys. */
export async function selectFixedIn(on: Connection, projectId: string, version: string) {
  return on
    .selectFrom('releases as r')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('deploys')
          .select(['environment', 'finished_at'])
          .whereRef('release_id', '=', 'r.id')
          .where('finished_at', 'is not', null)
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(1)
          .as('d'),
      (join) => join.onTrue(),
    )
    .select(['r.id', 'r.version', 'r.state', 'r.released_at', 'r.created_at', 'r.first_seen_at'])
    .select(['d.environment', 'd.finished_at'])
    .where('r.project_id', '=', projectId)
    .where('r.version', '=', version)
    .executeTakeFirst()
}

export async function reportsDeploys(on: Connection, projectId: string): Promise<boolean> {
  const row = await on
    .selectFrom('deploys')
    .select('id')
    .where('project_id', '=', projectId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Which of the commits are in this release. */
export async function commitsAmong(on: Connection, releaseId: string, shas: readonly string[]): Promise<Set<string>> {
  const rows = await on
    .selectFrom('release_commits')
    .select('sha')
    .where('release_id', '=', releaseId)
    .where('sha', '=', sql<string>`any(${[...shas]}::text[])`)
    .execute()
  return new Set(rows.map(({ sha }) => sha))
}

// Issues

/** Issues of a project by their numbers. */
export const selectIssuesByNumber = (on: Connection, projectId: string, numbers: readonly number[]) =>
  on
    .selectFrom('issues')
    .select(['id', 'number', 'status', 'status_changed_at'])
    .where('project_id', '=', projectId)
    .where('number', '=', sql<number>`any(${[...numbers]}::bigint[])`)
    .execute()

export type MentionRow = Selectable<Tables['host_mentions']>

/** @returns false when the issue knew it in this state, or as a fix */
export async function putMention(tx: Tx, row: MentionRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('host_mentions')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['issue_id', 'kind', 'ref'])
        .doUpdateSet({
          state: row.state,
          says_fix: row.says_fix,
          title: row.title,
          mentioned_at: row.mentioned_at,
        })
        .where((eb) =>
          eb.or([eb('host_mentions.state', '<>', row.state), eb('host_mentions.says_fix', '<>', row.says_fix)]),
        )
        .where('host_mentions.state', '<>', 'fixes'),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** Keeps the newest mentions of an issue. */
export async function trimMentions(tx: Tx, issueId: string, max: number): Promise<void> {
  await sql`
    delete from host_mentions m where issue_id = ${issueId} and (kind, ref) in (
      select kind, ref from host_mentions where issue_id = ${issueId}
      order by state = 'fixes' desc, mentioned_at desc offset ${max})`.execute(tx)
}

export const selectMentions = (on: Connection, issueIds: readonly string[], max: number) =>
  on
    .selectFrom('host_mentions')
    .selectAll()
    .where('issue_id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .orderBy('mentioned_at', 'desc')
    .limit(max)
    .execute()

/** When and in which release an issue was seen first, and whether it is resolved. */
export const selectIssueState = (on: Connection, issueId: string) =>
  on
    .selectFrom('issues')
    .select(['first_seen', 'first_release', 'status', 'status_changed_at', 'resolved_in_release'])
    .where('id', '=', issueId)
    .executeTakeFirst()
