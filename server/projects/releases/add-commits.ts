import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { addJob } from '../../platform/jobs/task.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { CommitInput } from './releases.api.ts'
import { countParts, lockRelease, type ReleaseRow, upsertCommits } from './releases.queries.ts'
import { aboutRelease } from './ensure-release.ts'

const MAX_PER_RELEASE = 10_000

/** The job that finds issues resolved in a commit (issues/recording/tasks.ts). */
export const RELEASE_COMMITS_JOB = 'release-commits'

/** @throws AppError not_found; conflict when the release would have too many commits */
export async function addCommits(
  app: App,
  actor: OrgActor,
  input: { readonly releaseId: string; readonly commits: readonly CommitInput[] },
): Promise<{ commit_count: number }> {
  return app.tx(async (tx) => {
    const release = await lockRelease(tx, actor.orgId, input.releaseId)
    if (release === null) throw notFound('Release')
    const { changed, total } = await storeCommits(tx, release, input.commits)
    if (changed > 0)
      await recordFacts(tx, factContext(app, actor), [
        { kind: 'release.commits_added', ...aboutRelease(actor, release), data: { commits: changed } },
      ])
    return { commit_count: total }
  })
}

/** Writes commits of a locked or new release, and adds the job for issues that wait for them. @returns how many were new or changed, and how many it has */
export async function storeCommits(
  tx: Tx,
  release: ReleaseRow,
  commits: readonly CommitInput[],
): Promise<{ changed: number; total: number }> {
  // If a commit occurs twice, the first occurrence counts.
  const byId = new Map([...commits].reverse().map((commit) => [commit.id, commit]))
  const inOrder = [...new Set(commits.map((commit) => commit.id))].flatMap((id) => byId.get(id) ?? [])
  const changed = await upsertCommits(
    tx,
    release.id,
    inOrder.map((commit) => ({
      release_id: release.id,
      project_id: release.project_id,
      sha: commit.id,
      repository: commit.repository ?? null,
      message: commit.message ?? null,
      author_name: commit.author_name ?? null,
      author_email: commit.author_email ?? null,
      committed_at: commit.timestamp === undefined || commit.timestamp === null ? null : new Date(commit.timestamp),
      files: commit.patch_set === undefined || commit.patch_set === null ? null : JSON.stringify(commit.patch_set),
    })),
  )
  const counts = (await countParts(tx, [release.id])).get(release.id)
  if ((counts?.commits ?? 0) > MAX_PER_RELEASE)
    throw conflict(`A release can have at most ${MAX_PER_RELEASE.toLocaleString('en-GB')} commits.`)
  await addJob(tx, RELEASE_COMMITS_JOB, {}, { key: RELEASE_COMMITS_JOB })
  return { changed, total: counts?.commits ?? 0 }
}
