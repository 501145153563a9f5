import type { RangeName } from '#shared/issue-values.ts'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { previousRange, timeRange, type TimeRange } from '../kernel/time-range.ts'
import {
  anrRate,
  backgroundAnrRate,
  crashRate,
  NO_EVENTS,
  NO_SESSIONS,
  share,
  type By,
  type EventFigures,
  type SessionFigures,
} from './figures.ts'
import { findChange, findDifference, findPeak } from './find-change.ts'
import {
  filterOf,
  readEvents,
  readEventSeries,
  readSessions,
  readSessionSeries,
  type Filter,
  type HealthQuery,
} from './health-source.queries.ts'
import { LIMITS, wordOf } from './limits.ts'
import type { Metric, MetricSeries } from './metrics.api.ts'
import { projectOf } from './projects-of.ts'

export type MetricsInput = Filter & {
  readonly projectId: string
  readonly range: RangeName
  readonly metric: Metric
  readonly by?: By | undefined
}

/** @throws AppError not_found, invalid (filters that are not stored together) */
export async function readMetrics(app: App, actor: OrgActor, input: MetricsInput): Promise<MetricSeries> {
  const { metric, by } = input
  const project = await projectOf(app, actor, input.projectId)
  const read = { projects: [project], filter: filterOf(input), range: input.range, now: app.clock.now() }
  if (metric === 'crash_rate') return rateOf(app, read, metric, by ?? 'sessions')
  if (metric === 'anr_rate') return rateOf(app, read, metric, by ?? 'users')
  return metric === 'event_count' ? eventCount(app, read) : userCount(app, read)
}

/** What to read: projects, filters and a range that ends now. */
export type Read = Pick<HealthQuery, 'projects' | 'filter' | 'now'> & { readonly range: RangeName }

const over = ({ projects, filter, now }: Read, { from, to }: TimeRange): HealthQuery => ({
  projects,
  filter,
  from,
  to,
  now,
})

const RATES = {
  crash_rate: {
    users: 'crashed',
    rate: crashRate,
    bands: LIMITS.crash,
    part: (of: SessionFigures, by: By) => (by === 'users' ? of.crashed_users : of.crashed),
    affected: (events: EventFigures) => events.crashed_users,
    figures: (of: SessionFigures) => ({
      sessions: of.sessions,
      crashed: of.crashed,
      unhandled: of.unhandled,
      users: named(of.users, of),
      crashed_users: named(of.crashed_users, of),
    }),
  },
  anr_rate: {
    users: 'anr',
    rate: anrRate,
    bands: LIMITS.anr,
    part: (of: SessionFigures, by: By) => (by === 'users' ? of.anr_foreground_users : of.anr_foreground),
    affected: (events: EventFigures) => events.anr_users,
    figures: (of: SessionFigures, by: By) => ({
      sessions: of.sessions,
      anr: of.anr_foreground,
      users: named(of.users, of),
      anr_users: named(of.anr_foreground_users, of),
      background: backgroundAnrRate(of, by),
    }),
  },
} as const

/** Null when no session names its user. */
const named = (users: number, of: SessionFigures): number | null => (of.users > 0 ? users : null)

/**
 * Whether figures come from combinations of values: an interval then has a sketch of users for each of up to thousands,
 * and merging them takes seconds. Users beside a rate by sessions stay unknown.
 */
function isCombined({ filter }: Read): boolean {
  const { release, environment, os, device, device_class: deviceClass } = filter
  const others = [os, device, deviceClass].filter((values) => values !== undefined).length
  return others > 1 || (others === 1 && (release !== undefined || environment !== undefined))
}

/** A rate by sessions or users, from sessions; without them only an estimate from events. */
export async function rateOf(app: App, read: Read, metric: 'crash_rate' | 'anr_rate', by: By): Promise<MetricSeries> {
  const { rate, bands, part, affected, figures } = RATES[metric]
  const users = by === 'sessions' && isCombined(read) ? 'none' : RATES[metric].users
  const now = timeRange(read.now, read.range)
  const before = previousRange(now)
  const [series, previousSeries, total, previous] = await Promise.all([
    readSessionSeries(app.db, over(read, now), now.stepSeconds, users),
    readSessionSeries(app.db, over(read, before), now.stepSeconds, by === 'users' ? users : 'none'),
    readSessions(app.db, over(read, now), users),
    readSessions(app.db, over(read, before), users),
  ])
  const at = (time: number): SessionFigures => series.get(time) ?? NO_SESSIONS
  const whole = by === 'users' ? total.users : total.sessions
  const isKnown = whole > 0
  const events = isKnown ? NO_EVENTS : await readEvents(app.db, over(read, now))
  const estimated = share(affected(events), events.users)
  return {
    ...frameOf(metric, read.range, now),
    by,
    basis: isKnown ? by : estimated === null ? null : 'events',
    points: pointsOf(now, (time) => ({ value: rate(at(time), by), ...figures(at(time), by) })),
    previous_points: before.times.map((time) => ({
      t: new Date(time).toISOString(),
      value: rate(previousSeries.get(time) ?? NO_SESSIONS, by),
    })),
    total: rate(total, by),
    previous_total: rate(previous, by),
    totals: figures(total, by),
    previous_totals: figures(previous, by),
    estimate: estimated === null ? null : { value: estimated, affected_users: affected(events), users: events.users },
    bands,
    word: wordOf(rate(total, by), whole, bands),
    finding: findChange(
      now.times.map((t) => ({
        t,
        part: part(at(t), by),
        whole: by === 'users' ? at(t).users : at(t).sessions,
      })),
    ),
  }
}

/** Stored error events. */
export async function eventCount(app: App, read: Read): Promise<MetricSeries> {
  const now = timeRange(read.now, read.range)
  const before = previousRange(now)
  const [series, previousSeries] = await Promise.all([
    readEventSeries(app.db, over(read, now), now.stepSeconds),
    readEventSeries(app.db, over(read, before), now.stepSeconds),
  ])
  const sum = (of: ReadonlyMap<number, EventFigures>, name: 'events' | 'critical'): number =>
    [...of.values()].reduce((total, figures) => total + figures[name], 0)
  const at = (time: number): EventFigures => series.get(time) ?? NO_EVENTS
  const [total, previous] = [sum(series, 'events'), sum(previousSeries, 'events')]
  return {
    ...frameOf('event_count', read.range, now),
    ...COUNTED,
    basis: 'events',
    points: pointsOf(now, (time) => ({ value: at(time).events, critical: at(time).critical })),
    previous_points: before.times.map((time) => ({
      t: new Date(time).toISOString(),
      value: previousSeries.get(time)?.events ?? 0,
    })),
    total,
    previous_total: previous,
    totals: { critical: sum(series, 'critical') },
    previous_totals: { critical: sum(previousSeries, 'critical') },
    finding: findPeak(now.times.map((t) => ({ t, value: at(t).events }))) ?? findDifference(total, previous),
  }
}

/** Distinct users of error events; the active ones, of sessions, are beside them and never the denominator. */
export async function userCount(app: App, read: Read): Promise<MetricSeries> {
  const now = timeRange(read.now, read.range)
  const before = previousRange(now)
  const [series, previousSeries, total, previous, active, activeTotal, activePrevious] = await Promise.all([
    readEventSeries(app.db, over(read, now), now.stepSeconds),
    readEventSeries(app.db, over(read, before), now.stepSeconds),
    readEvents(app.db, over(read, now)),
    readEvents(app.db, over(read, before)),
    readSessionSeries(app.db, over(read, now), now.stepSeconds, isCombined(read) ? 'none' : 'active'),
    readSessions(app.db, over(read, now), isCombined(read) ? 'none' : 'crashed'),
    readSessions(app.db, over(read, before), isCombined(read) ? 'none' : 'active'),
  ])
  const usersAt = (of: ReadonlyMap<number, EventFigures>, time: number) => (of.get(time) ?? NO_EVENTS).users
  const activeIn = (of: SessionFigures): number | null => (of.sessions > 0 ? named(of.users, of) : null)
  return {
    ...frameOf('user_count', read.range, now),
    ...COUNTED,
    basis: 'events',
    points: pointsOf(now, (time) => ({
      value: usersAt(series, time),
      active: activeIn(active.get(time) ?? NO_SESSIONS),
    })),
    previous_points: before.times.map((time) => ({
      t: new Date(time).toISOString(),
      value: usersAt(previousSeries, time),
    })),
    total: total.users,
    previous_total: previous.users,
    totals: { active: activeIn(activeTotal) },
    previous_totals: { active: activeIn(activePrevious) },
    finding:
      activeTotal.users > 0 && activeTotal.crashed_users > 0
        ? { kind: 'affected', users: activeTotal.crashed_users, share: activeTotal.crashed_users / activeTotal.users }
        : findDifference(total.users, previous.users),
  }
}

const COUNTED = { by: null, estimate: null, bands: null, word: null } as const

const frameOf = (metric: Metric, range: RangeName, { stepSeconds }: TimeRange) => ({
  metric,
  range,
  interval_seconds: stepSeconds,
})

type Point = MetricSeries['points'][number]

const pointsOf = ({ times }: TimeRange, figuresAt: (time: number) => Omit<Point, 't' | 'incomplete'>): Point[] =>
  times.map((time, index) => ({
    t: new Date(time).toISOString(),
    ...figuresAt(time),
    ...(index === times.length - 1 ? { incomplete: true as const } : {}),
  }))
