import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { selectLatestReleases } from '../../projects/releases/releases.queries.ts'
import { grouped, type Pattern, type Query, type Term } from './query.ts'

/** `release:latest`: the latest release of each project. */

const isLatest = ({ text, glob }: Pattern): boolean => !glob && text.toLowerCase() === 'latest'

/** Keys of releases. */
type ReleaseTerm = Extract<Term, { kind: 'release' }> | Extract<Term, { kind: 'facet' }>

const isRelease = (query: Query): query is ReleaseTerm =>
  query.kind === 'release' || (query.kind === 'facet' && query.key === 'release')

/**
 * Puts the latest release of each project in the place of `latest`. Where no project has one, `latest` stays and finds a
 * release of that name.
 * @param projectIds the projects of the list; undefined for all of the organisation
 */
export async function withLatestReleases(
  db: Connection,
  actor: OrgActor,
  query: Query | null,
  projectIds: readonly string[] | undefined,
): Promise<Query | null> {
  if (query === null || !asksForLatest(query)) return query
  const latest = new Map<string, string[]>()
  for (const { projectId, version } of await selectLatestReleases(db, actor.orgId, projectIds))
    latest.set(version, [...(latest.get(version) ?? []), projectId])
  return latest.size === 0 ? query : replaced(query, latest)
}

const asksForLatest = (query: Query): boolean => {
  if (query.kind === 'and' || query.kind === 'or') return query.parts.some(asksForLatest)
  if (query.kind === 'not') return asksForLatest(query.part)
  return isRelease(query) && query.values.some(isLatest)
}

/** @param latest the projects whose latest release is a version */
function replaced(query: Query, latest: ReadonlyMap<string, readonly string[]>): Query {
  if (query.kind === 'and' || query.kind === 'or')
    return grouped(
      query.kind,
      query.parts.map((part) => replaced(part, latest)),
    ) as Query
  if (query.kind === 'not') return { kind: 'not', part: replaced(query.part, latest) }
  if (!isRelease(query) || !query.values.some(isLatest)) return query
  const others = query.values.filter((value) => !isLatest(value))
  const ofProjects = [...latest].map(([version, projectIds]): Query => ({
    kind: 'and',
    parts: [
      { kind: 'project', values: projectIds, at: { start: 0, end: 0 } },
      { ...query, values: [{ text: version, glob: false }] },
    ],
  }))
  return grouped('or', [...(others.length === 0 ? [] : [{ ...query, values: others }]), ...ofProjects]) ?? query
}
