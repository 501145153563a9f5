import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ScreenSort } from '../address/search.ts'
import { buildAddress, call, type AnswerOf } from './call.ts'
import type { HealthView } from './metric-queries.ts'

export type Performance = AnswerOf<'GET /api/performance'>
export type Start = Performance['cold_start']
export type ScreenRow = AnswerOf<'GET /api/performance/screens'>['items'][number]
export type ScreenDetail = AnswerOf<'GET /api/performance/screen'>
export type TransactionRow = AnswerOf<'GET /api/performance/transactions'>['items'][number]
export type TransactionDetail = AnswerOf<'GET /api/performance/transaction'>
export type SpanOperations = AnswerOf<'GET /api/performance/operations'>
export type Spread = Start['spread']

export const performanceQuery = ({ projectId, range, filters }: HealthView) =>
  queryOptions({
    queryKey: ['performance', 'all', projectId, range, filters],
    queryFn: ({ signal }) => call('GET /api/performance', { query: { projectId, range, ...filters }, signal }),
    placeholderData: keepPreviousData,
  })

/** Screens and transactions are not counted by device model. */
const withoutDevice = ({ release, environment, os, device_class }: HealthView['filters']) => ({
  release,
  environment,
  os,
  device_class,
})

export const screensQuery = ({ projectId, range, filters }: HealthView, sort: ScreenSort) =>
  infiniteQueryOptions({
    queryKey: ['performance', 'screens', projectId, range, filters, sort],
    queryFn: ({ signal, pageParam }) =>
      call('GET /api/performance/screens', {
        query: { projectId, range, ...withoutDevice(filters), sort, offset: String(pageParam) },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, items, total }) => (offset + items.length < total ? offset + items.length : null),
    placeholderData: keepPreviousData,
  })

type TransactionSort = '-count' | '-total' | '-failures'

export const transactionsQuery = ({ projectId, range, filters }: HealthView, sort: TransactionSort = '-count') =>
  infiniteQueryOptions({
    queryKey: ['performance', 'transactions', projectId, range, filters, sort],
    queryFn: ({ signal, pageParam }) =>
      call('GET /api/performance/transactions', {
        query: { projectId, range, ...withoutDevice(filters), sort, offset: String(pageParam) },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, items, total }) => (offset + items.length < total ? offset + items.length : null),
    placeholderData: keepPreviousData,
  })

export const screenQuery = ({ projectId, range, filters }: HealthView, name: string) =>
  queryOptions({
    queryKey: ['performance', 'screen', projectId, range, filters, name],
    queryFn: ({ signal }) =>
      call('GET /api/performance/screen', { query: { projectId, range, ...withoutDevice(filters), name }, signal }),
    placeholderData: keepPreviousData,
  })

export const transactionQuery = ({ projectId, range, filters }: HealthView, name: string) =>
  queryOptions({
    queryKey: ['performance', 'transaction', projectId, range, filters, name],
    queryFn: ({ signal }) =>
      call('GET /api/performance/transaction', {
        query: { projectId, range, ...withoutDevice(filters), name },
        signal,
      }),
    placeholderData: keepPreviousData,
  })

/** Queries, hosts, queues, caches and resources: spans are counted by environment only. */
export const spanOperationsQuery = ({ projectId, range, filters: { environment } }: HealthView) => {
  const query = { projectId, range, environment }
  return queryOptions({
    queryKey: ['performance', 'operations', query],
    queryFn: ({ signal }) => call('GET /api/performance/operations', { query, signal }),
    placeholderData: keepPreviousData,
  })
}

/** The address of a table as CSV. */
export const screensCsvUrl = ({ projectId, range, filters }: HealthView, sort: ScreenSort): string =>
  buildAddress('/api/performance/screens', {}, { projectId, range, format: 'csv', ...withoutDevice(filters), sort })
export const transactionsCsvUrl = ({ projectId, range, filters }: HealthView): string =>
  buildAddress('/api/performance/transactions', {}, { projectId, range, format: 'csv', ...withoutDevice(filters) })
