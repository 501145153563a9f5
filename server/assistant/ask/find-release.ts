import { type Asked, filterWords, ofProjects } from './asked.ts'
import { page, type Project, Release } from './shapes.ts'

const Releases = page(Release)

/**
 * The release that a question names: a version with or without its package and build, a part of one that begins it, or
 * `latest` and `previous`.
 * @returns null when there is none, or the caller may not read releases
 */
export async function findRelease({ facts, projectId }: Asked, named: string): Promise<Release | null> {
  const project = projectId === null ? {} : { projectId }
  if (named === 'latest' || named === 'previous') {
    const newest = await facts.read('listReleases', Releases, { query: { ...project, limit: '25', state: 'open' } })
    const known = (newest?.items ?? []).filter(({ first_seen }) => first_seen !== null)
    const withSessions = known.filter(({ sessions }) => (sessions ?? 0) > 0)
    const [latest] = withSessions.length > 0 ? withSessions : known
    if (named === 'latest' || latest === undefined) return latest ?? null
    const others = (withSessions.length > 0 ? withSessions : known).filter(
      ({ project_id }) => project_id === latest.project_id,
    )
    return others[1] ?? null
  }
  const found = await facts.read('listReleases', Releases, { query: { ...project, q: named, limit: '100' } })
  const ranked = (found?.items ?? [])
    .map((release) => ({ release, rank: rankOf(release.version, named) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
  return ranked[0]?.release ?? null
}

/** 4 the same name, 3 the version without package, 2 without build, 1 a beginning: `4.11` of `shop@4.11.2`. */
function rankOf(version: string, named: string): number {
  const [whole, wanted] = [version.toLowerCase(), named.toLowerCase()]
  if (whole === wanted) return 4
  const bare = whole.slice(whole.lastIndexOf('@') + 1)
  if (bare === wanted) return 3
  const withoutBuild = bare.replace(/[+ (].*$/, '')
  if (withoutBuild === wanted || bare.endsWith(`+${wanted}`)) return 2
  return withoutBuild.startsWith(`${wanted}.`) || withoutBuild.startsWith(`${wanted}-`) ? 1 : 0
}

type OfRelease<T> = {
  readonly project: Project
  readonly release: Release | undefined
  readonly figures: T
  /** The release, else the project, with the filters of the question. */
  readonly of: string
}

/**
 * Reads figures of each project that is asked about, or of each of these releases in its project, and leaves out those
 * without.
 */
export async function ofReleases<T>(
  asked: Asked,
  releases: readonly Release[],
  read: (project: Project, release: Release | undefined) => Promise<T | null>,
): Promise<OfRelease<T>[]> {
  const all: OfRelease<T>[] = []
  for (const release of releases.length === 0 ? [undefined] : releases)
    for (const { project, figures } of await ofProjects(asked, (one) =>
      release !== undefined && release.project_id !== one.id ? Promise.resolve(null) : read(one, release),
    ))
      all.push({ project, release, figures, of: `${release?.version ?? project.name}${filterWords(asked.question)}` })
  return all
}

/** The releases that a question names, in its order; says which of them are not known. */
export async function findReleases(asked: Asked): Promise<Release[]> {
  const found: Release[] = []
  for (const named of asked.question.releases) {
    const release = await findRelease(asked, named)
    if (release !== null) {
      if (found.every(({ id }) => id !== release.id)) found.push(release)
    } else if (asked.facts.refused.size === 0)
      asked.say(
        `There is no ${named === 'latest' || named === 'previous' ? `${named} release` : `release ${named}`} here.`,
      )
  }
  return found
}
