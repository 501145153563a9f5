import { selectVersions } from './list.queries.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { compareReleases } from '../../projects/releases/order.ts'
import type { ReleaseRow } from '../../projects/releases/releases.queries.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { crashFreeHours } from './crash-free-hours.ts'
import { sessionsOfProject, type ProjectSessions } from './health.ts'
import type { ReleaseRange, ReleasesHealth } from './release-health.api.ts'
import { readSessionEnvironments, seriesOfReleases } from './sessions-of-releases.ts'

/** A stacked chart with more layers is not readable. */
const MAX_LAYERS = 5
const MAX_LINES = 3
/** Share of today's sessions from which a release counts as in use. Builds of single developers are below it. */
const MIN_SHARE_TODAY = 0.005
const MAX_CANDIDATES = 50

/** @throws AppError not_found */
export async function readReleasesHealth(
  app: App,
  actor: OrgActor,
  input: { readonly projectId: string; readonly range: ReleaseRange; readonly environment?: string | undefined },
): Promise<ReleasesHealth> {
  const { projectId, range, environment } = input
  await requireProject(app, actor, projectId)
  const sessions = await sessionsOfProject(app, projectId, range, environment)
  const [environments, rows] = await Promise.all([
    readSessionEnvironments(app.db, projectId, sessions.query.from),
    shownReleases(app, sessions),
  ])
  const newest = rows.slice(0, MAX_LINES)
  return {
    range,
    interval_seconds: sessions.query.bucketSeconds,
    environments,
    adoption: sessions.total === 0 ? null : await adoptionOf(app, sessions, rows),
    crash_free: await Promise.all(
      newest.map(async (row) => ({
        release_id: row.id,
        version: row.version,
        since: row.dated_at.toISOString(),
        hours: await crashFreeHours(app, row, sessions.query),
      })),
    ),
  }
}

/**
 * The releases of the chart, newest first: the newest that are in use today, and those with the most sessions in the
 * range.
 */
async function shownReleases(
  app: App,
  { query, byRelease, today, totalToday }: ProjectSessions,
): Promise<ReleaseRow[]> {
  const bySessions = [...byRelease].sort(([, a], [, b]) => b.sessions - a.sessions).map(([version]) => version)
  const inUse = bySessions.filter((version) => (today.get(version) ?? 0) > MIN_SHARE_TODAY * totalToday)
  const candidates = [...new Set([...bySessions.slice(0, MAX_LAYERS), ...inUse.slice(0, MAX_CANDIDATES)])]
  if (candidates.length === 0) return []
  const rows = await selectVersions(app.db, query.projectId, candidates)
  const byAge = rows.sort((a, b) => compareReleases(factsOf(b), factsOf(a)))
  const newest = byAge.filter((row) => inUse.includes(row.version)).slice(0, MAX_LINES)
  const wanted = new Set([...newest.map((row) => row.version), ...bySessions.slice(0, MAX_LAYERS)])
  const chosen = [...wanted].slice(0, MAX_LAYERS)
  return byAge.filter((row) => chosen.includes(row.version))
}

const factsOf = (row: ReleaseRow) => ({
  version: row.version,
  releasedAt: row.released_at,
  firstSeenAt: row.first_seen_at,
})

async function adoptionOf(
  app: App,
  { query }: ProjectSessions,
  rows: readonly ReleaseRow[],
): Promise<ReleasesHealth['adoption']> {
  const versions = rows.map(({ version }) => version)
  const { byRelease, totals } = await seriesOfReleases(app.db, query, versions)
  const releases = rows.map((row) => {
    const own = new Map((byRelease.get(row.version) ?? []).map((bucket) => [bucket.bucket.getTime(), bucket.sessions]))
    return { release_id: row.id, version: row.version, sessions: query.times.map((time) => own.get(time) ?? 0) }
  })
  const all = query.times.map((time) => totals.get(time) ?? 0)
  return {
    times: query.times.map((time) => new Date(time).toISOString()),
    totals: all,
    releases,
    others: all.map((total, index) =>
      Math.max(
        0,
        releases.reduce((left, release) => left - (release.sessions[index] ?? 0), total),
      ),
    ),
  }
}
