import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AuditSearch } from '../address/search.ts'
import { buildAddress, call, type AnswerOf } from './call.ts'
import { dayRange } from './day-range.ts'

export type AuditEntry = AnswerOf<'GET /api/audit-log'>['items'][number]
export type AuditFilters = Omit<AuditSearch, 'entry'>

const filterOf = ({ action, actor, target, from, to }: AuditFilters) => ({
  action,
  actor,
  target,
  ...dayRange(from, to),
})

/** Pages of the audit log, newest first. */
export const auditLogQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'list', filters],
    queryFn: ({ signal, pageParam }) =>
      call('GET /api/audit-log', { query: { ...filterOf(filters), limit: '50', cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })

export const MAX_NEW_ENTRIES = 50

/** The numbers of the newest entries, to count those that the list does not show yet. */
export const newEntriesQuery = (filters: AuditFilters) =>
  queryOptions({
    queryKey: ['audit', 'new', filters],
    queryFn: async ({ signal }) => {
      const page = await call('GET /api/audit-log', {
        query: { ...filterOf(filters), limit: String(MAX_NEW_ENTRIES) },
        signal,
      })
      return page.items.map(({ seq }) => seq)
    },
  })

/** The address of the export of the entries that match. */
export const auditExportUrl = (filters: AuditFilters): string =>
  buildAddress('/api/audit-log/export', {}, filterOf(filters))
