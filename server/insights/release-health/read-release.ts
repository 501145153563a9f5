import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { selectReleaseIssues, type ReleasePart } from '../../issues/rows/of-releases.queries.ts'
import { viewIssues } from '../../issues/rows/view-issue.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { findRelease } from '../../projects/releases/releases.queries.ts'
import { viewParts } from '../../projects/releases/view-release.ts'
import { crashFreeHours } from './crash-free-hours.ts'
import { sessionsOfProject, computeShare, withHealth, type ProjectSessions } from './health.ts'
import type { ReleaseDetail, ReleaseRange } from './release-health.api.ts'
import {
  readSessionEnvironments,
  seriesOfReleases,
  sessionsByTrait,
  type SessionTrait,
} from './sessions-of-releases.ts'
import { computeCrashFreeRate } from './verdict.ts'

const MAX_SHOWN = 25
const MAX_TRAITS = 10

/** @throws AppError not_found */
export async function readRelease(
  app: App,
  actor: OrgActor,
  input: { readonly releaseId: string; readonly range: ReleaseRange; readonly environment?: string | undefined },
): Promise<ReleaseDetail> {
  const row = await findRelease(app.db, actor.orgId, input.releaseId)
  if (row === null) throw notFound('Release')
  const { project_id: projectId, version } = row
  const issuesOf = async (part: ReleasePart) =>
    viewIssues(app, await selectReleaseIssues(app.db, actor, { projectId, version, part }, MAX_SHOWN))
  const sessions = await sessionsOfProject(app, projectId, input.range, input.environment)
  const ofRelease = sessions.byRelease.get(version)?.sessions ?? 0
  const byTrait = async (trait: SessionTrait): Promise<ReleaseDetail['devices']> =>
    ofRelease <= 0
      ? []
      : (await sessionsByTrait(app.db, sessions.query, version, trait, MAX_TRAITS)).map(({ name, ...counts }) => ({
          name,
          sessions: counts.sessions,
          share: counts.sessions / ofRelease,
          crash_free_sessions: computeCrashFreeRate(counts),
        }))
  const [[release], parts, fresh, regressed, resolved, environments, hours, devices, systems, series] =
    await Promise.all([
      withHealth(app, [row], sessions),
      viewParts(app.db, row.id),
      issuesOf('fresh'),
      issuesOf('regressed'),
      issuesOf('resolved'),
      readSessionEnvironments(app.db, projectId, sessions.query.from, version),
      crashFreeHours(app, row, sessions.query),
      byTrait('device'),
      byTrait('os'),
      seriesOf(app, version, sessions),
    ])
  if (release === undefined) throw notFound('Release')
  return {
    ...release,
    ...parts,
    new_issue_list: fresh,
    regressed_issues: regressed,
    resolved_issues: resolved,
    series,
    crash_free_hours: hours.some((hour) => hour.sessions > 0) ? hours : null,
    environments,
    devices,
    systems,
  }
}

async function seriesOf(
  app: App,
  version: string,
  { query, byRelease }: ProjectSessions,
): Promise<ReleaseDetail['series']> {
  if (!byRelease.has(version)) return null
  const { byRelease: own, totals } = await seriesOfReleases(app.db, query, [version])
  const buckets = new Map((own.get(version) ?? []).map((bucket) => [bucket.bucket.getTime(), bucket]))
  return {
    interval_seconds: query.bucketSeconds,
    points: query.times.map((time) => {
      const bucket = buckets.get(time)
      const sessions = bucket?.sessions ?? 0
      return {
        t: new Date(time).toISOString(),
        sessions,
        adoption: computeShare(sessions, totals.get(time) ?? 0),
        crash_free_sessions: bucket === undefined || sessions <= 0 ? null : computeCrashFreeRate(bucket),
      }
    }),
  }
}
