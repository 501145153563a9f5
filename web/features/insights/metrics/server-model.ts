import type { MetricSeries } from '../../../api/metric-queries.ts'
import type { Performance } from '../../../api/performance-queries.ts'

/** Errors and failures among the requests of a server. Pure. */

export type RequestPoint = {
  readonly requests: number
  readonly failures: number
  /** Errors per thousand requests; null without requests. */
  readonly errorRate: number | null
  readonly users: number | null
}

/** Errors per thousand requests; null without requests, or where the errors are not known. */
export const perThousand = (errors: number | null, requests: number): number | null =>
  errors === null || requests === 0 ? null : (errors / requests) * 1_000

/** Requests, errors and users of each interval: the two answers may begin at different ones. */
export function requestPoints(
  series: Performance['series'],
  errors: MetricSeries['points'],
  users: MetricSeries['points'],
): RequestPoint[] {
  const valueAt = (points: MetricSeries['points']) => new Map(points.map(({ t, value }) => [Date.parse(t), value]))
  const [errorsAt, usersAt] = [valueAt(errors), valueAt(users)]
  return series.map(({ t, transactions }) => {
    const at = Date.parse(t)
    const { count, failure_rate: rate } = transactions
    return {
      requests: count,
      failures: Math.round((rate ?? 0) * count),
      errorRate: perThousand(errorsAt.get(at) ?? null, count),
      users: usersAt.get(at) ?? null,
    }
  })
}
