import type { Connection } from '../../platform/storage/database.ts'
import type { BucketSeconds } from './buckets.ts'
import { USER_SETS, type UserSet, type Dimension } from './dimensions.ts'
import type { HealthQuery } from './health-query.ts'
import { type HealthTotals, readHealthSeries, readHealthTotals } from './read-health.ts'

export type SessionTotalsQuery = Readonly<Partial<Record<Dimension, string | undefined>>> & {
  readonly projectId: string
  readonly from: Date
  /** Excluded. */
  readonly to: Date
}

/** Sessions that started in a range (docs/protocol.md §9.2). Rates are fractions, null without sessions or users. */
type SessionTotals = HealthTotals<UserSet> & {
  readonly healthy: number
  readonly crash_rate: number | null
  readonly crash_free_sessions: number | null
  readonly crash_free_users: number | null
  readonly unhandled_rate: number | null
  /** Share of users; share of sessions when no session names its user. */
  readonly anr_rate: number | null
  readonly anr_foreground_rate: number | null
}

/** Totals of a range, with rates. */
export async function readSessionTotals(db: Connection, query: SessionTotalsQuery): Promise<SessionTotals> {
  return withRates(await readHealthTotals(db, healthQuery(query), USER_SETS))
}

type SessionPoint = { readonly t: Date; readonly totals: SessionTotals }

/** The same in equal steps, including empty ones. */
export async function readSessionSeries(
  db: Connection,
  query: SessionTotalsQuery,
  stepSeconds: BucketSeconds,
): Promise<SessionPoint[]> {
  const points = await readHealthSeries(db, healthQuery(query), stepSeconds, USER_SETS)
  return points.map(({ t, ...totals }) => ({ t, totals: withRates(totals) }))
}

function healthQuery({ projectId, from, to, ...values }: SessionTotalsQuery): HealthQuery {
  const filter: Partial<Record<Dimension, readonly string[]>> = {}
  for (const [dimension, value] of Object.entries(values) as [Dimension, string | undefined][])
    if (value !== undefined) filter[dimension] = [value]
  return { projectIds: [projectId], source: 'sessions', from, to, now: to, filter }
}

function withRates(totals: HealthTotals<UserSet>): SessionTotals {
  const { total, errored, unhandled, abnormal, crashed, users } = totals
  const anr = totals.anr_foreground + totals.anr_background
  // Sketches keep a user whose session crashed after the hang, but a session has one user.
  const anrUsers = Math.min(totals.anr_users, anr)
  const foregroundUsers = Math.min(totals.anr_foreground_users, totals.anr_foreground)
  const crashRate = share(crashed, total)
  return {
    ...totals,
    anr_users: anrUsers,
    anr_foreground_users: foregroundUsers,
    healthy: total - errored - unhandled - abnormal - crashed,
    crash_rate: crashRate,
    crash_free_sessions: crashRate === null ? null : 1 - crashRate,
    crash_free_users: users === 0 ? null : 1 - totals.crashed_users / users,
    unhandled_rate: share(unhandled, total),
    anr_rate: users > 0 ? anrUsers / users : share(anr, total),
    anr_foreground_rate: users > 0 ? foregroundUsers / users : share(totals.anr_foreground, total),
  }
}

const share = (part: number, whole: number): number | null => (whole <= 0 ? null : part / whole)
