import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { HealthSearch, Range } from '../address/search.ts'
import { buildAddress, call, type AnswerOf } from './call.ts'

export type MetricSeries = AnswerOf<'GET /api/metrics'>
export type Metric = MetricSeries['metric']
export type MetricFinding = NonNullable<MetricSeries['finding']>
export type Breakdown = AnswerOf<'GET /api/metrics/breakdown'>
export type StoreGuard = AnswerOf<'GET /api/store-guard'>

/** The project, time and filters of a page's figures. */
export type HealthView = {
  readonly projectId: string
  readonly range: Range
  readonly filters: Pick<HealthSearch, 'release' | 'environment' | 'os' | 'device' | 'device_class'>
}

export const metricQuery = ({ projectId, range, filters }: HealthView, metric: Metric) =>
  queryOptions({
    queryKey: ['metrics', metric, projectId, range, filters],
    queryFn: ({ signal }) => call('GET /api/metrics', { query: { projectId, range, metric, ...filters }, signal }),
    placeholderData: keepPreviousData,
  })

type BreakdownView = HealthView & {
  readonly dimension: Breakdown['dimension']
  readonly sort?: Breakdown['sort']
  readonly limit?: number
}

/** Sessions by the values of a dimension, most sessions first by default. */
export const breakdownQuery = ({
  projectId,
  range,
  filters,
  dimension,
  sort = '-sessions',
  limit = 50,
}: BreakdownView) =>
  queryOptions({
    queryKey: ['metrics', 'breakdown', projectId, range, filters, dimension, sort, limit],
    queryFn: ({ signal }) =>
      call('GET /api/metrics/breakdown', {
        query: { projectId, range, ...filters, dimension, sort, limit: String(limit) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })

export const storeGuardQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['metrics', 'store-guard', projectId],
    queryFn: ({ signal }) => call('GET /api/store-guard', { query: { projectId }, signal }),
  })

/** The address of a breakdown as CSV. */
export const breakdownCsvUrl = ({ projectId, range, filters, dimension, sort = '-sessions' }: BreakdownView): string =>
  buildAddress(
    '/api/metrics/breakdown',
    {},
    { projectId, range, dimension, sort, limit: '100', format: 'csv', ...filters },
  )
