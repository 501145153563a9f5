import type { Connection } from '../../platform/storage/database.ts'
import { Commit, type Deploy, type ListedParts, type Release, type WholeRelease } from './releases.api.ts'
import {
  countParts,
  selectCommits,
  selectDeploys,
  selectNewestParts,
  type CommitRow,
  type DeployRow,
  type ReleaseRow,
} from './releases.queries.ts'

/** Parses stored files; an invalid value becomes an empty list. */
const Files = Commit.shape.patch_set

const textOf = (time: Date | null): string | null => time?.toISOString() ?? null

export async function viewReleases(db: Connection, rows: readonly ReleaseRow[]): Promise<Release[]> {
  const counts = await countParts(
    db,
    rows.map((row) => row.id),
  )
  return rows.map((row) => ({
    id: row.id,
    project_id: row.project_id,
    version: row.version,
    state: row.state,
    url: row.url,
    ref: row.ref,
    created_at: row.created_at.toISOString(),
    released_at: textOf(row.released_at),
    first_seen: textOf(row.first_seen_at),
    last_seen: textOf(row.last_seen_at),
    first_event: textOf(row.first_event_at),
    last_event: textOf(row.last_event_at),
    first_session: textOf(row.first_session_at),
    last_session: textOf(row.last_session_at),
    commit_count: counts.get(row.id)?.commits ?? 0,
    deploy_count: counts.get(row.id)?.deploys ?? 0,
  }))
}

export async function viewRelease(db: Connection, row: ReleaseRow): Promise<WholeRelease> {
  const [release] = await viewReleases(db, [row])
  if (release === undefined) throw new Error('a release has no view')
  return { ...release, ...(await viewParts(db, row.id)) }
}

const FIRST_PAGE = { limit: 25, offset: 0 }

/** The newest commits and deploys of a release. Further ones have their own lists. */
export async function viewParts(db: Connection, releaseId: string): Promise<Pick<WholeRelease, 'commits' | 'deploys'>> {
  const [commits, deploys] = [
    await selectCommits(db, releaseId, FIRST_PAGE, null),
    await selectDeploys(db, releaseId, FIRST_PAGE, null),
  ]
  return { commits: commits.map(viewCommit), deploys: deploys.map(viewDeploy) }
}

const MAX_LISTED = 3

/** The newest commits and deploys of the releases of a page, by release id. */
export async function viewListedParts(
  db: Connection,
  releaseIds: readonly string[],
): Promise<(releaseId: string) => ListedParts> {
  const { commits, deploys } = await selectNewestParts(db, releaseIds, MAX_LISTED)
  const commitsOf = Map.groupBy(commits, (row) => row.release_id)
  const deploysOf = Map.groupBy(deploys, (row) => row.release_id)
  return (id) => ({
    commits: (commitsOf.get(id) ?? []).map(viewCommitAlone),
    deploys: (deploysOf.get(id) ?? []).map(viewDeploy),
  })
}

const viewCommitAlone = (row: Omit<CommitRow, 'files'>): ListedParts['commits'][number] => ({
  id: row.sha,
  repository: row.repository,
  message: row.message,
  author_name: row.author_name,
  author_email: row.author_email,
  timestamp: textOf(row.committed_at),
})

export const viewCommit = (row: CommitRow): Commit => ({
  ...viewCommitAlone(row),
  patch_set: Files.catch([]).parse(row.files),
})

export const viewDeploy = (row: DeployRow): Deploy => ({
  id: row.id,
  release_id: row.release_id,
  environment: row.environment,
  name: row.name,
  url: row.url,
  started_at: textOf(row.started_at),
  finished_at: textOf(row.finished_at),
  created_at: row.created_at.toISOString(),
})
