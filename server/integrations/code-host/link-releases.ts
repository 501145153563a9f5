import { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import { defineTask } from '../../platform/jobs/task.ts'
import { aboutRelease } from '../../projects/releases/ensure-release.ts'
import { storeCommits } from '../../projects/releases/add-commits.ts'
import type { CommitInput } from '../../projects/releases/releases.api.ts'
import { selectSettings } from '../../projects/registry/projects.queries.ts'
import { type CodeHostRow, selectCodeHost } from './code-hosts.queries.ts'
import {
  findKnownCommit,
  type KnownCommit,
  selectCommitsOfRelease,
  selectKnown,
  selectRange,
  selectReleases,
  selectTags,
} from './commits.queries.ts'
import { HostError } from './host-client.ts'
import { hostActor } from './integration-actor.ts'
import { RELEASES_JOB } from './job-names.ts'
import { noteProblem } from './note-problem.ts'
import { openClient } from './open-client.ts'
import { wantRepository } from './read-repository-job.ts'
import { headOfRelease } from './release-head.ts'
import { storeKnownCommits, StoredFiles } from './store-commits.ts'
import { findVendor } from './vendors.ts'

/** Releases of a project that are looked at, the newest. */
const MAX_RELEASES = 50
/** Commits that a release gets, and of the first known release. */
const MAX_COMMITS = 1_000
const MAX_OF_FIRST = 250
/** Files of a commit in the list of a release. */
const MAX_LISTED_FILES = 500

type ReleaseRow = Awaited<ReturnType<typeof selectReleases>>[number]
type Headed = { readonly release: ReleaseRow; readonly sha: string; readonly seq: number | null }

/**
 * Gives releases without commits those that their tag, ref or version means: the commits of the default branch after the
 * release before. Commits that a tool uploaded get the files that are known, and become known themselves.
 */
async function linkReleases(app: App, projectId: string, signal: AbortSignal): Promise<void> {
  const [host, releases, tags] = await Promise.all([
    selectCodeHost(app.db, projectId),
    selectReleases(app.db, projectId, MAX_RELEASES),
    selectTags(app.db, projectId),
  ])
  const project = await selectSettings(app.db, projectId)
  if (project === undefined) return
  const headed: Headed[] = []
  for (const release of releases) {
    const sha = release.head ?? headOfRelease(release, tags)
    if (sha === null) continue
    const known = await findKnownCommit(app.db, projectId, sha)
    headed.push({ release, sha: known?.sha ?? sha, seq: known?.is_default === true ? known.seq : null })
  }
  for (const one of headed) {
    signal.throwIfAborted()
    if (one.release.head !== null) await shareFiles(app, host, project.org_id, one.release)
    else if (host !== undefined) await giveCommits(app, host, one, headed, signal)
  }
}

async function giveCommits(app: App, host: CodeHostRow, own: Headed, headed: readonly Headed[], signal: AbortSignal) {
  const commits =
    own.seq === null ? await fetchRange(app, host, own, headed, signal) : await knownRange(app, host, own.seq, headed)
  if (commits.length > 0) await addToRelease(app, host, own.release, commits)
}

/** The newest head of another release before this one. */
const before = (seq: number, headed: readonly Headed[]): number | null =>
  headed.reduce<number | null>(
    (best, { seq: other }) => (other !== null && other < seq && other > (best ?? -1) ? other : best),
    null,
  )

async function knownRange(app: App, host: CodeHostRow, seq: number, headed: readonly Headed[]): Promise<CommitInput[]> {
  const base = before(seq, headed)
  const rows = await selectRange(app.db, host.project_id, base, seq, base === null ? MAX_OF_FIRST : MAX_COMMITS)
  return rows.map((row) => asInput(row, host.repository_url))
}

/** The head is not on the default branch, or not known: the code host tells, with a token. */
async function fetchRange(
  app: App,
  host: CodeHostRow,
  { release, sha }: Headed,
  headed: readonly Headed[],
  signal: AbortSignal,
): Promise<CommitInput[]> {
  const alone = (await selectKnown(app.db, host.project_id, [sha])).map((row) => asInput(row, host.repository_url))
  const client = await openClient(app, host, signal)
  // The releases come newest first.
  const base = headed.slice(headed.findIndex((one) => one.release.id === release.id) + 1).at(0)
  if (client === null || base === undefined) return alone
  try {
    const commits = (await findVendor(host.provider).compare(client, base.sha, sha)) ?? []
    if (commits.length === 0) return alone
    const newest = commits.slice(-MAX_COMMITS)
    await app.tx((tx) => storeKnownCommits(tx, host.project_id, newest, { isDefault: false, wants: true }))
    const rows = new Map(
      (
        await selectKnown(
          app.db,
          host.project_id,
          newest.map((commit) => commit.sha),
        )
      ).map((row) => [row.sha, row]),
    )
    return newest.toReversed().flatMap((commit) => {
      const row = rows.get(commit.sha)
      return row === undefined ? [] : [asInput(row, host.repository_url)]
    })
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    await noteProblem(app, host, error)
    return alone
  }
}

async function addToRelease(
  app: App,
  host: Pick<CodeHostRow, 'id' | 'org_id' | 'provider'>,
  release: ReleaseRow,
  commits: readonly CommitInput[],
): Promise<void> {
  const actor = hostActor(host)
  await app.tx(async (tx) => {
    const { changed } = await storeCommits(tx, release, commits)
    if (changed > 0)
      await recordFacts(tx, factContext(app, actor), [
        { kind: 'release.commits_added', ...aboutRelease(actor, release), data: { commits: changed } },
      ])
  })
}

/** Between the commits of a release and those that are known, files go both ways. */
async function shareFiles(app: App, host: CodeHostRow | undefined, orgId: string, release: ReleaseRow): Promise<void> {
  const listed = await selectCommitsOfRelease(app.db, release.id, MAX_COMMITS)
  const known = new Map(
    (
      await selectKnown(
        app.db,
        release.project_id,
        listed.map(({ sha }) => sha),
      )
    ).map((row) => [row.sha, row]),
  )
  const unknown = listed.filter(
    ({ sha, files }) => (known.get(sha)?.files ?? null) === null && (files !== null || !known.has(sha)),
  )
  if (unknown.length > 0)
    await app.tx(async (tx) => {
      await wantRepository(tx, release.project_id)
      await storeKnownCommits(
        tx,
        release.project_id,
        unknown.toReversed().map((row) => ({
          sha: row.sha,
          message: row.message ?? '',
          authorName: row.author_name,
          authorEmail: row.author_email,
          authorLogin: null,
          committedAt: row.committed_at ?? release.created_at,
          files: row.files === null ? null : StoredFiles.catch([]).parse(row.files),
        })),
        { isDefault: false, wants: host?.token_sealed != null },
      )
    })
  const lacking = listed.flatMap(({ sha, files }) => {
    const row = known.get(sha)
    return files === null && row !== undefined && row.files !== null ? [row] : []
  })
  if (lacking.length > 0 && host !== undefined)
    await addToRelease(
      app,
      { ...host, org_id: orgId },
      release,
      lacking.map((row) => asInput(row, host.repository_url)),
    )
}

const asInput = (row: KnownCommit, repository: string): CommitInput => ({
  id: row.sha,
  repository: repository.slice(0, 200),
  message: row.message,
  author_name: row.author_name,
  author_email: row.author_email,
  timestamp: row.committed_at.toISOString(),
  patch_set:
    row.files === null
      ? null
      : StoredFiles.catch([])
          .parse(row.files)
          .slice(0, MAX_LISTED_FILES)
          .map(({ path, type }) => ({ path, type })),
})

export const codeHostReleasesTask = defineTask({
  name: RELEASES_JOB,
  payload: z.object({ projectId: z.uuid() }),
  run: (app, { projectId }, signal) => linkReleases(app, projectId, signal),
})
