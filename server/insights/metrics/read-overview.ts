import { isOfOneDay } from '#shared/daily-limits.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { shortId, type RangeName } from '#shared/issue-values.ts'
import { timeRange } from '../../platform/kernel/time-range.ts'
import { listReleases } from '../release-health/list-releases.ts'
import { share } from './figures.ts'
import type { Finding } from './finding.api.ts'
import type { HealthQuery } from './health-source.queries.ts'
import { LIMITS } from './limits.ts'
import type { MetricSeries, Overview } from './metrics.api.ts'
import * as sql from './overview.queries.ts'
import { readMetricsProject, readMetricsProjects } from './projects-of.ts'
import { compareEvents, compareSessions, eventCount, readRateSeries, userCount, type Read } from './read-metrics.ts'
import { guardProjects } from './read-store-guard.ts'

const RELEASES = 5
/** Users that the cards show, so that each count is read once. */
const SESSION_USERS = ['users', 'crashed_users', 'anr_foreground_users'] as const

/** The organisation's quota of events and its use, which the intake knows. */
export type ReadQuota = (
  app: App,
  actor: OrgActor,
) => Promise<{ readonly events_per_day: number | null; readonly used_today: number }>

/**
 * The first view of a dashboard, of a project or of the whole organisation.
 * @throws AppError not_found
 */
export async function readOverview(
  app: App,
  actor: OrgActor,
  { projectId, range }: { readonly projectId?: string | undefined; readonly range: RangeName },
  readQuota: ReadQuota,
): Promise<Overview> {
  const projects =
    projectId === undefined ? await readMetricsProjects(app, actor) : [await readMetricsProject(app, actor, projectId)]
  const now = app.clock.now()
  const read: Read = { projects, filter: {}, range, now }
  const { from, stepSeconds } = timeRange(now, range)
  const ids = projects.map((project) => project.id)
  const sets = { points: ['users', 'anr_foreground_users'], total: SESSION_USERS } as const
  const [sessions, ofEvents, guarded, releases, issues, outcomes, quota] = await Promise.all([
    compareSessions(app, read, sets),
    compareEvents(app, read, { points: ['users'], total: ['users'] }),
    guardProjects(app, projects),
    listReleases(app, actor, { projectId, range, limit: RELEASES, offset: 0, sort: '-date' }),
    sql.countIssues(app.db, ids, new Date(from)),
    sql.sumOutcomes(app.db, ids, new Date(from)),
    readQuota(app, actor),
  ])
  const [crash, anr, events, users] = await Promise.all([
    readRateSeries(app, read, 'crash_rate', 'sessions', sessions),
    readRateSeries(app, read, 'anr_rate', 'users', sessions),
    eventCount(app, read, ofEvents),
    userCount(app, read, { events: ofEvents, sessions }),
  ])
  const outcome = (name: string): number => outcomes.find((one) => one.outcome === name)?.quantity ?? 0
  const lost = { dropped: outcome('dropped'), rate_limited: outcome('rate_limited') }
  const { forecast } = guarded.anr
  return {
    project_id: projectId ?? null,
    range,
    interval_seconds: stepSeconds,
    cards: {
      crash_rate: {
        ...rateCard(crash, LIMITS.crash.poor),
        finding: await explained(app, projects, range, crash.finding),
      },
      anr_rate: {
        ...rateCard(anr, LIMITS.anr.poor),
        ...(isOfOneDay(range) ? {} : { word: guarded.anr.state, limit: limitOf(LIMITS.anr.poor, guarded.anr.rate) }),
        finding:
          forecast === null
            ? anr.finding
            : { kind: 'passes_limit', limit: LIMITS.anr.poor, at: forecast.passes_limit_at, days: forecast.days },
      },
      event_count: {
        ...countCard(events),
        critical: events.totals.critical ?? 0,
        finding: lost.dropped + lost.rate_limited > 0 ? { kind: 'lost', ...lost } : events.finding,
      },
      user_count: {
        ...countCard(users),
        active: users.totals.active ?? null,
        previous_active: users.previous_totals.active ?? null,
        crashed_users: crash.totals.crashed_users ?? null,
        crash_free_users: crashFree(crash),
        finding: users.finding,
      },
    },
    releases: releases.items.map((release) => ({
      release_id: release.id,
      project_id: release.project_id,
      version: release.version,
      adoption: release.adoption,
      sessions: release.sessions,
      crash_free_sessions: release.crash_free_sessions,
      crash_free_users: release.crash_free_users,
      verdict: release.verdict,
      verdict_reason: release.verdict_reason,
    })),
    issues,
    intake: {
      accepted: outcome('accepted'),
      filtered: outcome('filtered'),
      ...lost,
      events_per_day: quota.events_per_day,
      used_today: quota.used_today,
    },
  }
}

function crashFree({ totals: { users, crashed_users } }: MetricSeries): number | null {
  const affected = share(crashed_users ?? 0, users ?? 0)
  return affected === null ? null : 1 - affected
}

/** The last whole interval with a value: the current one is incomplete. */
const latestOf = ({ points }: MetricSeries): number | null =>
  points.findLast((point) => point.incomplete === undefined)?.value ?? null

const rateCard = (series: MetricSeries, limit: number) => ({
  value: series.total,
  previous: series.previous_total,
  change: series.total === null || series.previous_total === null ? null : series.total - series.previous_total,
  word: series.word,
  basis: series.basis,
  estimate: series.estimate,
  latest: latestOf(series),
  trend: series.points.map((point) => point.value),
  limit: limitOf(limit, series.total),
})

const limitOf = (value: number, rate: number | null) => ({ value, share: rate === null ? null : rate / value })

const countCard = (series: MetricSeries) => ({
  value: series.total,
  previous: series.previous_total,
  change:
    series.total === null || series.previous_total === null || series.previous_total === 0
      ? null
      : series.total / series.previous_total - 1,
  trend: series.points.map((point) => point.value),
})

/** The share of the rise that an issue must have to be named. */
const MIN_SHARE_OF_RISE = 0.3

/** A rise of the crash rate with the issue that makes most of it, else with the release that it came with. */
async function explained(
  app: App,
  projects: HealthQuery['projects'],
  range: RangeName,
  finding: Finding | null,
): Promise<Finding | null> {
  const [project, second] = projects
  if (finding?.kind !== 'rose' || project === undefined || second !== undefined) return finding
  const { from, to, stepSeconds } = timeRange(app.clock.now(), range)
  const at = new Date(finding.since)
  const around = 2 * stepSeconds * 1000
  const [rises, [release]] = await Promise.all([
    sql.risesOfIssues(app.db, project.id, { from: new Date(from), at, to: new Date(to) }),
    sql.releasesAround(app.db, project.id, new Date(at.getTime() - around), new Date(at.getTime() + around)),
  ])
  const risen = rises.map((issue) => ({ issue, by: Math.max(0, issue.after - issue.expected) }))
  const all = risen.reduce((sum, { by }) => sum + by, 0)
  const most = risen.reduce((top, one) => (one.by > top.by ? one : top), risen[0] ?? { issue: null, by: 0 })
  if (most.issue !== null && most.by >= MIN_SHARE_OF_RISE * all && most.by > 0)
    return {
      kind: 'issue',
      issue_id: most.issue.id,
      short_id: shortId(most.issue.slug, most.issue.number),
      share: most.by / all,
    }
  return { ...finding, release: release?.version ?? null }
}
