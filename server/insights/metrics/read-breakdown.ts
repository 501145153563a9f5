import type { RangeName } from '#shared/issue-values.ts'
import type { Dimension } from '../../telemetry/app-health/dimensions.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { timeRange } from '../../platform/kernel/time-range.ts'
import { anrRate, anrUsers, crashRate, NO_SESSIONS, share, type SessionFigures } from './figures.ts'
import {
  addFigures,
  pickHealthFilter,
  MAX_NAMES,
  readSessionsBy,
  readUsersByValue,
  type Filter,
  type HealthQuery,
} from './health-source.queries.ts'
import { rateWord } from '#shared/rate-words.ts'
import { LIMITS, userRateWord, worstWord } from './limits.ts'
import type { Breakdown, BreakdownSort } from './metrics.api.ts'
import { readMetricsProject } from './projects-of.ts'

type BreakdownInput = Filter & {
  readonly projectId: string
  readonly range: RangeName
  readonly dimension: Dimension
  readonly limit: number
  readonly offset: number
  readonly sort: BreakdownSort
}

/** @throws AppError not_found, invalid (filters that are not stored together) */
export async function readBreakdown(app: App, actor: OrgActor, input: BreakdownInput): Promise<Breakdown> {
  const project = await readMetricsProject(app, actor, input.projectId)
  const { from, to } = timeRange(app.clock.now(), input.range)
  const query = { projects: [project], filter: pickHealthFilter(input), from, to, now: app.clock.now() }
  return computeBreakdown(app, query, input)
}

/** Sessions by the values of a dimension: counts of all, users of those that are shown. */
async function computeBreakdown(
  app: App,
  query: HealthQuery,
  { range, dimension, limit, offset, sort }: Pick<BreakdownInput, 'range' | 'dimension' | 'limit' | 'offset' | 'sort'>,
): Promise<Breakdown> {
  const all = await readSessionsBy(app.db, query, dimension, MAX_NAMES)
  const sorted = all.rows.toSorted(comparing(sort)).slice(offset, offset + limit)
  const users = await readUsersByValue(
    app.db,
    query,
    dimension,
    sorted.map(({ name }) => name),
  )
  const shown = new Set(sorted.map(({ name }) => name))
  const rest = all.rows.filter(({ name }) => !shown.has(name))
  const sum = (of: readonly SessionFigures[], count: 'sessions' | 'crashed'): number =>
    of.reduce((total, one) => total + one[count], 0)
  const sessions = sum(all.rows, 'sessions') + all.unknown.sessions + all.other.sessions
  const view = (name: string | null, counts: SessionFigures) =>
    viewRow({ dimension, range }, name, addFigures(counts, users.get(name ?? '') ?? NO_SESSIONS), sessions)
  return {
    range,
    dimension,
    sort,
    limit,
    offset,
    sessions,
    rows: sorted.map(({ name, ...counts }) => view(name, counts)),
    unknown: all.unknown.sessions === 0 ? null : view(null, all.unknown),
    other:
      rest.length === 0 && all.other.sessions === 0
        ? null
        : {
            names: rest.length,
            sessions: sum(rest, 'sessions') + all.other.sessions,
            crashed: sum(rest, 'crashed') + all.other.crashed,
            beyond_limit: all.other.sessions,
          },
    coverage: share(sessions - all.unknown.sessions, sessions),
  }
}

function viewRow(
  { dimension, range }: Pick<BreakdownInput, 'dimension' | 'range'>,
  name: string | null,
  of: SessionFigures,
  all: number,
): Breakdown['rows'][number] {
  const isNamed = of.users > 0
  const [crashBands, anrBands] = dimension === 'device' ? [LIMITS.device, LIMITS.device] : [LIMITS.crash, LIMITS.anr]
  const anr = anrRate(of, isNamed ? 'users' : 'sessions')
  return {
    name,
    share: share(of.sessions, all) ?? 0,
    sessions: of.sessions,
    crashed: of.crashed,
    unhandled: of.unhandled,
    anr: of.anr_foreground,
    users: isNamed ? of.users : null,
    crashed_users: isNamed ? of.crashed_users : null,
    anr_users: isNamed ? anrUsers(of) : null,
    crash_rate: crashRate(of, 'sessions'),
    crash_rate_users: crashRate(of, 'users'),
    anr_rate: anr,
    word: worstWord(
      rateWord(crashRate(of, 'sessions'), of.sessions, crashBands),
      isNamed ? userRateWord(anr, of.users, anrBands, range) : rateWord(anr, of.sessions, anrBands),
    ),
  }
}

type Named = SessionFigures & { readonly name: string }

function comparing(sort: BreakdownSort): (a: Named, b: Named) => number {
  const isDescending = sort.startsWith('-')
  const byName = (a: Named, b: Named): number => (a.name < b.name ? -1 : 1)
  const key = sort.replace(/^-/, '')
  if (key === 'name') return isDescending ? (a, b) => byName(b, a) : byName
  const value = ({ sessions, crashed, anr_foreground: anr }: Named): number =>
    key === 'sessions' ? sessions : wilsonBound(key === 'crash_rate' ? crashed : anr, sessions, isDescending)
  return (a, b) => (isDescending ? value(b) - value(a) : value(a) - value(b)) || b.sessions - a.sessions || byName(a, b)
}

/** 95 % of the values lie within so many standard errors. */
const Z = 1.96

/**
 * Wilson's bound of a share: sorted by it, one crash in one session stands behind 80 in 1,000.
 * @param isLower the lower bound, which is near 0 for few sessions; else the upper one
 */
export function wilsonBound(part: number, whole: number, isLower: boolean): number {
  if (whole <= 0) return isLower ? 0 : 1
  const p = part / whole
  const margin = Z * Math.sqrt((p * (1 - p)) / whole + Z ** 2 / (4 * whole ** 2))
  return (p + Z ** 2 / (2 * whole) + (isLower ? -margin : margin)) / (1 + Z ** 2 / whole)
}
