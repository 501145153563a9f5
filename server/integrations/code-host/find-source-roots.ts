import { chooseEvent } from '../../issues/issue-events/choose-event.ts'
import { eventFilter } from '../../issues/issue-events/event-filter.ts'
import { openReadable } from '../../issues/issue-events/open-event.ts'
import { newestIssues } from '../../issues/ownership/ownership.queries.ts'
import { selectGroupIds } from '../../issues/rows/groups.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectSettings } from '../../projects/registry/projects.queries.ts'
import type { StoredRoot } from './code-host.api.ts'
import { changeCodeHost, lockCodeHost } from './code-hosts.queries.ts'
import { selectPaths } from './commits.queries.ts'
import { framePlaces } from './frame-paths.ts'
import { wantRepository } from './read-repository-job.ts'
import { findRoots } from './source-roots.ts'
import { foldFileName } from './store-commits.ts'
import { readRoots } from './view-code-host.ts'

/** Issues whose newest events are tried. */
const MAX_ISSUES = 30
const MAX_KNOWN = 5_000

/** Finds by trial how paths of frames begin in the repository. Typed roots stay. */
export async function findSourceRoots(app: App, projectId: string): Promise<void> {
  const paths = await pathsOfNewest(app, projectId)
  const names = [...new Set(paths.map(foldFileName))]
  const known = Map.groupBy(await selectPaths(app.db, projectId, names, MAX_KNOWN), foldFileName)
  const found = findRoots(paths, known)
  await app.tx(async (tx) => {
    const row = await lockCodeHost(tx, projectId)
    if (row === undefined || paths.length === 0) return
    const before = readRoots(row)
    const roots = [...before.filter(({ by }) => by === 'member'), ...found]
    // Rules of CODEOWNERS name paths as frames show them.
    const isOther = pairsOf(roots) !== pairsOf(before)
    await changeCodeHost(tx, projectId, {
      source_roots: JSON.stringify(roots),
      ...(isOther ? { owners_read_at: null } : {}),
    })
    if (isOther && row.reads_owners && row.token_sealed !== null) await wantRepository(tx, projectId)
  })
}

const pairsOf = (roots: readonly Pick<StoredRoot, 'stack_root' | 'source_root'>[]): string =>
  roots
    .map(({ stack_root: from, source_root: to }) => JSON.stringify([from, to]))
    .toSorted()
    .join()

async function pathsOfNewest(app: App, projectId: string): Promise<string[]> {
  const project = await selectSettings(app.db, projectId)
  if (project === undefined) return []
  const paths: string[] = []
  for (const { id } of await newestIssues(app.db, projectId, MAX_ISSUES)) {
    const sources = {
      issueIds: await selectGroupIds(app.db, [id]),
      oldestDay: oldestDay(project.settings, app.clock.now()),
    }
    const stored = await chooseEvent(app, { projectId, sources, filter: eventFilter(projectId, {}) }, 'latest')
    const event = stored === null ? null : await openReadable(app, { orgId: project.org_id, projectId }, stored)
    if (event !== null) paths.push(...framePlaces(event).map(({ path }) => path))
  }
  return paths
}
