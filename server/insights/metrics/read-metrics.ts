import type { RangeName } from '#shared/issue-values.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { previousRange, timeRange, type TimeRange } from '../../platform/kernel/time-range.ts'
import {
  anrRate,
  anrUsers,
  backgroundAnrRate,
  crashRate,
  NO_EVENTS,
  NO_SESSIONS,
  share,
  type By,
  type EventFigures,
  type SessionFigures,
} from './figures.ts'
import {
  pickHealthFilter,
  readEvents,
  readEventUsers,
  readSessions,
  readUsers,
  type EventUsers,
  type Filter,
  type HealthQuery,
  type Range,
  type SessionUsers,
} from './health-source.queries.ts'
import { rateWord } from '#shared/rate-words.ts'
import { LIMITS, userRateWord } from './limits.ts'
import type { Metric, MetricSeries } from './metrics.api.ts'
import { readMetricsProject } from './projects-of.ts'
import type { Finding } from './finding.api.ts'

type MetricsInput = Filter & {
  readonly projectId: string
  readonly range: RangeName
  readonly metric: Metric
  readonly by?: By | undefined
}

/** @throws AppError not_found, invalid (filters that are not stored together) */
export async function readMetrics(app: App, actor: OrgActor, input: MetricsInput): Promise<MetricSeries> {
  const { metric, by } = input
  const project = await readMetricsProject(app, actor, input.projectId)
  const read = { projects: [project], filter: pickHealthFilter(input), range: input.range, now: app.clock.now() }
  if (metric === 'crash_rate') return readRateSeries(app, read, metric, by ?? 'sessions')
  if (metric === 'anr_rate') return readRateSeries(app, read, metric, by ?? 'users')
  return metric === 'event_count' ? eventCount(app, read) : userCount(app, read)
}

/** ANR rates by users, of a range and the one before. @throws AppError not_found, invalid */
export async function readAnrRates(
  app: App,
  actor: OrgActor,
  input: Filter & { readonly projectId: string; readonly range: RangeName },
): Promise<{ readonly anr_rate: number | null; readonly previous_anr_rate: number | null }> {
  const project = await readMetricsProject(app, actor, input.projectId)
  const read = { projects: [project], filter: pickHealthFilter(input), range: input.range, now: app.clock.now() }
  const range = timeRange(read.now, read.range)
  const ranges = [range, previousRange(range)]
  const [now, before] = await readUsers(app.db, read, ranges, ['users', 'anr_foreground_users'])
  return {
    anr_rate: anrRate(now ?? NO_SESSIONS, 'users'),
    previous_anr_rate: anrRate(before ?? NO_SESSIONS, 'users'),
  }
}

/** The question: projects, filters and a range that ends now. */
export type Read = Pick<HealthQuery, 'projects' | 'filter' | 'now'> & { readonly range: RangeName }

const over = ({ projects, filter, now }: Read, { from, to }: TimeRange): HealthQuery => ({
  projects,
  filter,
  from,
  to,
  now,
})

/** A range and the one before it. */
type Compared<Figures> = { readonly now: Range<Figures>; readonly before: Range<Figures> }
type Wanted<Users> = { readonly points: Users; readonly total: Users }

/** Sessions, for {@link readRateSeries} and {@link userCount}. */
export async function compareSessions(
  app: App,
  read: Read,
  users: Wanted<SessionUsers>,
  counts?: HealthQuery['counts'],
): Promise<Compared<SessionFigures>> {
  const query = { ...read, ...(counts !== undefined && { counts }) }
  return compared(read, (ranges, stepSeconds) => readSessions(app.db, query, ranges, stepSeconds, users))
}

/** Stored error events, for {@link eventCount} and {@link userCount}. */
export async function compareEvents(app: App, read: Read, users: Wanted<EventUsers>): Promise<Compared<EventFigures>> {
  return compared(read, (ranges, stepSeconds) => readEvents(app.db, read, ranges, stepSeconds, users))
}

/** Reads both ranges together. */
async function compared<Figures>(
  { now, range }: Read,
  read: (ranges: readonly TimeRange[], stepSeconds: TimeRange['stepSeconds']) => Promise<Range<Figures>[]>,
): Promise<Compared<Figures>> {
  const current = timeRange(now, range)
  const [ofNow, before] = await read([current, previousRange(current)], current.stepSeconds)
  if (ofNow === undefined || before === undefined) throw new Error('a range was not read')
  return { now: ofNow, before }
}

const RATES = {
  crash_rate: {
    users: ['users', 'crashed_users'],
    counts: ['total', 'crashed', 'unhandled'],
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
    users: ['users', 'anr_foreground_users', 'anr_background_users'],
    counts: ['total', 'anr_foreground', 'anr_background'],
    rate: anrRate,
    bands: LIMITS.anr,
    part: (of: SessionFigures, by: By) => (by === 'users' ? anrUsers(of) : of.anr_foreground),
    affected: (events: EventFigures) => events.anr_users,
    figures: (of: SessionFigures, by: By) => ({
      sessions: of.sessions,
      anr: of.anr_foreground,
      users: named(of.users, of),
      anr_users: named(anrUsers(of), of),
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

/** The sessions of a rate; users of every point where they are its denominator or known beside it. */
function sessionsOfRate(app: App, read: Read, metric: 'crash_rate' | 'anr_rate', by: By) {
  const users = by === 'sessions' && isCombined(read) ? [] : RATES[metric].users
  return compareSessions(app, read, { points: users, total: users }, RATES[metric].counts)
}

/** A rate by sessions or users, from sessions; without them only an estimate from events. */
export async function readRateSeries(
  app: App,
  read: Read,
  metric: 'crash_rate' | 'anr_rate',
  by: By,
  known?: Compared<SessionFigures>,
): Promise<MetricSeries> {
  const { rate, bands, part, affected, figures } = RATES[metric]
  const now = timeRange(read.now, read.range)
  const before = previousRange(now)
  const sessions = known ?? (await sessionsOfRate(app, read, metric, by))
  const { series, total } = sessions.now
  const { series: previousSeries, total: previous } = sessions.before
  const at = (time: number): SessionFigures => series.get(time) ?? NO_SESSIONS
  const whole = by === 'users' ? total.users : total.sessions
  const isKnown = whole > 0
  const events = isKnown ? NO_EVENTS : await readEventUsers(app.db, over(read, now))
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
    word:
      by === 'users'
        ? userRateWord(rate(total, by), whole, bands, read.range)
        : rateWord(rate(total, by), whole, bands),
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
export async function eventCount(app: App, read: Read, known?: Compared<EventFigures>): Promise<MetricSeries> {
  const now = timeRange(read.now, read.range)
  const events = known ?? (await compareEvents(app, read, { points: [], total: [] }))
  const { series, total } = events.now
  const { series: previousSeries, total: previous } = events.before
  const at = (time: number): EventFigures => series.get(time) ?? NO_EVENTS
  return {
    ...frameOf('event_count', read.range, now),
    ...COUNTED,
    basis: 'events',
    points: pointsOf(now, (time) => ({ value: at(time).events, critical: at(time).critical })),
    previous_points: previousRange(now).times.map((time) => ({
      t: new Date(time).toISOString(),
      value: previousSeries.get(time)?.events ?? 0,
    })),
    total: total.events,
    previous_total: previous.events,
    totals: { critical: total.critical },
    previous_totals: { critical: previous.critical },
    finding:
      findPeak(now.times.map((t) => ({ t, value: at(t).events }))) ?? findDifference(total.events, previous.events),
  }
}

const BY_USERS = { points: ['users'], total: ['users'] } as const

/** Distinct users of error events; the active ones, of sessions, are beside them and never the denominator. */
export async function userCount(
  app: App,
  read: Read,
  known?: { readonly events: Compared<EventFigures>; readonly sessions: Compared<SessionFigures> },
): Promise<MetricSeries> {
  const now = timeRange(read.now, read.range)
  const ofSessions = isCombined(read)
    ? { points: [], total: [] }
    : { points: BY_USERS.points, total: RATES.crash_rate.users }
  const { events, sessions } = known ?? {
    events: await compareEvents(app, read, BY_USERS),
    sessions: await compareSessions(app, read, ofSessions, ['total']),
  }
  const { total } = events.now
  const active = sessions.now.total
  const activeIn = (of: SessionFigures): number | null => (of.sessions > 0 ? named(of.users, of) : null)
  const at = (time: number, of: 'now' | 'before') => ({
    value: (events[of].series.get(time) ?? NO_EVENTS).users,
    active: activeIn(sessions[of].series.get(time) ?? NO_SESSIONS),
  })
  return {
    ...frameOf('user_count', read.range, now),
    ...COUNTED,
    basis: 'events',
    points: pointsOf(now, (time) => at(time, 'now')),
    previous_points: previousRange(now).times.map((time) => ({
      t: new Date(time).toISOString(),
      ...at(time, 'before'),
    })),
    total: total.users,
    previous_total: events.before.total.users,
    totals: { active: activeIn(active) },
    previous_totals: { active: activeIn(sessions.before.total) },
    finding:
      active.users > 0 && active.crashed_users > 0
        ? { kind: 'affected', users: active.crashed_users, share: active.crashed_users / active.users }
        : findDifference(total.users, events.before.total.users),
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

/** Numerator and denominator of a rate per interval, oldest first. */
type RatePoint = { readonly t: number; readonly part: number; readonly whole: number }

/** The best split of a range is searched, so a change must be further from chance than one that was expected. */
const MIN_STANDARD_ERRORS = 4
/** Smaller changes are nothing to act on. */
const MIN_RELATIVE_CHANGE = 0.2
const MIN_PARTS = 10

/**
 * Whether a rate changed within a range: the interval that splits it into the most different halves. Null when nothing is
 * known.
 */
function findChange(points: readonly RatePoint[]): Finding | null {
  const all = points.reduce((sum, { part, whole }) => ({ part: sum.part + part, whole: sum.whole + whole }), {
    part: 0,
    whole: 0,
  })
  if (all.whole <= 0) return null
  const rate = all.part / all.whole
  const steady: Finding = { kind: 'steady', value: rate }
  if (all.part < MIN_PARTS) return steady
  let best = { distance: 0, t: 0, before: 0, after: 0 }
  let [part, whole] = [0, 0]
  for (const point of points) {
    const rest = { part: all.part - part, whole: all.whole - whole }
    if (whole > 0 && rest.whole > 0) {
      const [before, after] = [part / whole, rest.part / rest.whole]
      const error = Math.sqrt(rate * (1 - rate) * (1 / whole + 1 / rest.whole))
      const distance = error === 0 ? 0 : Math.abs(after - before) / error
      if (distance > best.distance) best = { distance, t: point.t, before, after }
    }
    part += point.part
    whole += point.whole
  }
  const { before, after } = best
  if (best.distance < MIN_STANDARD_ERRORS) return steady
  if (Math.abs(after - before) < MIN_RELATIVE_CHANGE * Math.max(before, after)) return steady
  const since = new Date(best.t).toISOString()
  return { kind: after > before ? 'rose' : 'fell', since, before, after, release: null }
}

/** The largest interval against the median one. Null when no interval stands out. */
function findPeak(points: readonly { readonly t: number; readonly value: number }[]): Finding | null {
  const sorted = points.map(({ value }) => value).sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] ?? 0
  const peak = points.reduce((top, point) => (point.value > top.value ? point : top), { t: 0, value: 0 })
  if (median <= 0 || peak.value < 2 * median || peak.value < MIN_PARTS) return null
  return { kind: 'peak', at: new Date(peak.t).toISOString(), value: peak.value, times: peak.value / median }
}

const findDifference = (total: number, previous: number): Finding | null =>
  previous <= 0 ? null : { kind: 'changed', share: total / previous - 1 }
