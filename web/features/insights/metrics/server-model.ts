import { MIN_VALUES } from '#shared/rate-words.ts'
import type { MetricSeries } from '../../../api/metric-queries.ts'
import type { Performance } from '../../../api/performance-queries.ts'

/** Errors and failures among the requests of a server. Pure. */

export type RequestPoint = {
  readonly requests: number
  readonly failures: number
  /** Errors per thousand requests; null where there are too few. */
  readonly errorRate: number | null
  readonly users: number | null
}

export const ofEnoughRequests = (value: number | null, requests: number): number | null =>
  requests < MIN_VALUES ? null : value

/** Errors per thousand requests; null for too few requests, or where the errors are not known. */
export const perThousand = (errors: number | null, requests: number): number | null =>
  errors === null ? null : ofEnoughRequests((errors / requests) * 1_000, requests)

/**
 * Requests, errors and users of each interval: the two answers may begin at different ones. Errors per thousand are those of
 * the longer interval around it that has enough requests.
 * @param factor how many intervals the longer one has, counted from the newest, as the service counts
 */
export function requestPoints(
  series: readonly {
    readonly t: string
    readonly transactions: Pick<Performance['series'][number]['transactions'], 'count' | 'failure_rate'>
  }[],
  errors: MetricSeries['points'],
  users: MetricSeries['points'],
  factor = 1,
): RequestPoint[] {
  const valueAt = (points: MetricSeries['points']) => new Map(points.map(({ t, value }) => [Date.parse(t), value]))
  const [errorsAt, usersAt] = [valueAt(errors), valueAt(users)]
  const groupOf = (index: number): number => Math.floor((series.length - 1 - index) / Math.max(1, factor))
  const sums = new Map<number, { errors: number | null; requests: number }>()
  for (const [index, { t, transactions }] of series.entries()) {
    const sum = sums.get(groupOf(index)) ?? { errors: null, requests: 0 }
    const here = errorsAt.get(Date.parse(t)) ?? null
    sums.set(groupOf(index), {
      errors: here === null ? sum.errors : (sum.errors ?? 0) + here,
      requests: sum.requests + transactions.count,
    })
  }
  return series.map(({ t, transactions }, index) => {
    const { count, failure_rate: rate } = transactions
    const sum = sums.get(groupOf(index)) ?? { errors: null, requests: 0 }
    return {
      requests: count,
      failures: Math.round((rate ?? 0) * count),
      errorRate: perThousand(sum.errors, sum.requests),
      users: usersAt.get(Date.parse(t)) ?? null,
    }
  })
}
