import { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { cutPage, readCursor, writeCursor, wrongCursor } from '../../platform/kernel/cursor.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { ReleaseState } from '../../projects/releases/releases.api.ts'
import type { ReleaseRow } from '../../projects/releases/releases.queries.ts'
import { viewListedParts } from '../../projects/releases/view-release.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { sessionsOfProject, withHealth } from './health.ts'
import { countReleases, selectReleases, readSortValue, type After, type ReleaseOrder } from './list.queries.ts'
import { RELEASE_SORTS, type ListedRelease, type ReleaseRange, type ReleaseSort } from './release-health.api.ts'

type ListReleasesInput = {
  /** Default: all projects of the organisation. */
  readonly projectId?: string | undefined
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: ReleaseSort
  readonly range: ReleaseRange
  readonly environment?: string | undefined
  readonly q?: string | undefined
  readonly version?: string | undefined
  readonly state?: readonly ReleaseState[] | undefined
}

/** @throws AppError not_found, invalid */
export async function listReleases(app: App, actor: OrgActor, input: ListReleasesInput): Promise<Page<ListedRelease>> {
  const { limit, offset, cursor, sort } = input
  if (cursor !== undefined && offset > 0) throw invalid('Send either cursor or offset, not both.')
  if (input.projectId !== undefined) await requireProject(app, actor, input.projectId)
  const order = orderOf(sort)
  const after = cursor === undefined ? null : placeAfter(cursor, sort)
  const filter = {
    orgId: actor.orgId,
    projectId: input.projectId,
    q: input.q,
    version: input.version,
    states: input.state,
  }
  const [rows, total] = await Promise.all([
    selectReleases(app.db, filter, order, { limit: limit + 1, offset, after }),
    countReleases(app.db, filter),
  ])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) =>
    writeCursor(sort, readSortValue(last, order.key), last.id),
  )
  return {
    items: await withHealthOfProjects(app, shown, input),
    ...figures,
  }
}

/** A page may show a hundred projects. */
const PROJECTS_AT_ONCE = 3

/** Computes health of a few projects at a time. */
async function withHealthOfProjects(
  app: App,
  rows: readonly ReleaseRow[],
  { range, environment }: ListReleasesInput,
): Promise<ListedRelease[]> {
  const partsOf = await viewListedParts(
    app.db,
    rows.map((row) => row.id),
  )
  const known = new Map<string, ListedRelease>()
  const projects = [...Map.groupBy(rows, (row) => row.project_id)]
  const addProject = async ([projectId, ofProject]: (typeof projects)[number]): Promise<void> => {
    const sessions = await sessionsOfProject(app, projectId, range, environment)
    for (const release of await withHealth(app, ofProject, sessions))
      known.set(release.id, { ...release, ...partsOf(release.id) })
  }
  for (let at = 0; at < projects.length; at += PROJECTS_AT_ONCE)
    await Promise.all(projects.slice(at, at + PROJECTS_AT_ONCE).map(addProject))
  return rows.flatMap((row) => known.get(row.id) ?? [])
}

function orderOf(sort: ReleaseSort): ReleaseOrder {
  const descending = sort.startsWith('-')
  const name = descending ? sort.slice(1) : sort
  return { key: RELEASE_SORTS.find((key) => key === name) ?? 'date', descending }
}

const Cursor = z.tuple([z.string(), z.string(), z.uuid()])

/** @throws AppError invalid, also for the cursor of another sort */
function placeAfter(cursor: string, sort: ReleaseSort): After {
  const [sortOfCursor, value, id] = readCursor(cursor, Cursor)
  if (sortOfCursor !== sort) throw wrongCursor()
  if (orderOf(sort).key === 'version') {
    if (value.includes('\0')) throw wrongCursor()
    return { value, id }
  }
  if (!z.iso.datetime().safeParse(value).success) throw wrongCursor()
  return { value: new Date(value), id }
}
