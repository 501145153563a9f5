import { isReleaseName } from '#shared/release-name.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { addCommits } from '../../projects/releases/add-commits.ts'
import { createRelease } from '../../projects/releases/create-release.ts'
import { CommitInput } from '../../projects/releases/releases.api.ts'
import { findReleaseByVersion } from '../../projects/releases/releases.queries.ts'
import type { Difference } from './imports.api.ts'
import { projectHere } from './project-here.ts'
import type { Progress, Running } from './step.ts'
import { readAll, readList, SourceCommit, nullWhenUnreadable, SourceRelease } from './source.ts'

const PAGE = 20
const MAX_COMMITS = 1_000

/** One page of the releases of a project, with their commits. A release that is here already gets the commits it lacks. */
export async function takeReleases(running: Running): Promise<Progress> {
  const { app, source, position } = running
  const project = await projectHere(running)
  if (project === null) return { cursor: null }
  const path = `/api/0/organizations/${source.org}/releases/?project=${encodeURIComponent(project.sourceId)}&per_page=${PAGE}`
  const page = await readList(app, source, path, SourceRelease, position.cursor).catch(nullWhenUnreadable)
  if (page === null) return { cursor: null, differences: [UNREADABLE] }
  const differences: Difference[] = []
  for (const release of page.items) {
    if (isReleaseName(release.version)) await takeRelease(running, project.id, release)
    else differences.push(badName(release.version))
  }
  const total = page.items.length
  return { cursor: page.next, done: { releases: total - differences.length }, total: { releases: total }, differences }
}

async function takeRelease({ app, actor, source }: Running, projectId: string, release: SourceRelease): Promise<void> {
  const { version } = release
  const commits =
    release.commitCount === 0
      ? []
      : await readAll(
          app,
          source,
          `/api/0/organizations/${source.org}/releases/${encodeURIComponent(version)}/commits/`,
          SourceCommit,
          MAX_COMMITS,
        )
  const inputs = commits.flatMap((commit): CommitInput[] => {
    const { id, message, author, repository, dateCreated } = commit
    const parsed = CommitInput.safeParse({
      id,
      message: message?.slice(0, 10_000) ?? null,
      author_name: author?.name?.slice(0, 200) ?? null,
      author_email: author?.email?.slice(0, 320) ?? null,
      repository: repository?.name?.slice(0, 200) ?? null,
      timestamp: dateCreated?.toISOString() ?? null,
    })
    return parsed.success ? [parsed.data] : []
  })
  const input = {
    projectId,
    version,
    released_at: (release.dateReleased ?? release.dateCreated).toISOString(),
    ref: release.ref?.slice(0, 200) ?? null,
    url: release.url != null && /^https?:\/\//.test(release.url) ? release.url : null,
    commits: inputs,
  }
  try {
    await createRelease(app, actor, input)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
    const releaseId = await findReleaseByVersion(app.db, projectId, version)
    if (releaseId !== undefined && inputs.length > 0) await addCommits(app, actor, { releaseId, commits: inputs })
  }
}

const UNREADABLE: Difference = {
  kind: 'releases',
  count: 1,
  reason: 'The token may not read releases.',
  instead: 'Releases appear with the events that name them.',
  examples: [],
}

const badName = (version: string): Difference => ({
  kind: 'releases',
  count: 1,
  reason: 'The name is longer than 200 characters, or has control characters.',
  instead: 'Left out.',
  examples: [version.slice(0, 80)],
})
