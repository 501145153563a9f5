import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { mergeIntoLists } from '../../../api/issue-cache.ts'
import { toIssueRow } from '../../../subjects/issue/changes.ts'
import {
  freshQuery,
  issueQuery,
  streamQuery,
  type Issue,
  type StreamData,
  type StreamFilters,
  type StreamPage,
} from '../../../api/issue-queries.ts'
import { useLive, usePolling } from '../../../api/live.ts'
import { useThrottled } from '../../../ui/throttled.ts'
import { keepFresh, strayIds, waitingIssues } from './fresh.ts'

/** The minimum time between two fetches of changes. */
const REFRESH_MS = 2000
const VOLUME_MS = 10_000
/** The maximum number of changed rows that are read one by one per fetch. */
const STRAYS_AT_ONCE = 5

const NONE: readonly Issue[] = []
const NO_HINTS: StreamPage['hints'] = []

/** The list, which stays still, and the pending issues. */
export function useIssueStream(filters: StreamFilters) {
  const client = useQueryClient()
  const list = useInfiniteQuery({ ...streamQuery(filters), placeholderData: keepPreviousData })
  const first = list.data?.pages[0]
  const settled = first !== undefined && !list.isPlaceholderData
  const fresh = useQuery({
    ...freshQuery(filters),
    enabled: settled,
    ...(settled ? { initialData: first, initialDataUpdatedAt: first.readAt } : {}),
    refetchInterval: usePolling(15_000),
  })
  const rows = useMemo(() => distinct(list.data?.pages ?? []), [list.data])
  const listed = useMemo(() => new Set(rows.map((row) => row.id)), [rows])
  const [held, setHeld] = useState<{ filters: StreamFilters; fresh: StreamPage | undefined; kept: readonly Issue[] }>({
    filters,
    fresh: undefined,
    kept: NONE,
  })
  if (fresh.data !== undefined && first !== undefined && (held.fresh !== fresh.data || held.filters !== filters)) {
    const before = held.filters === filters ? held.kept : NONE
    setHeld({ filters, fresh: fresh.data, kept: keepFresh(before, fresh.data, first.asOf) })
  }

  useEffect(() => {
    if (fresh.data !== undefined) mergeIntoLists(client, fresh.data.items)
  }, [client, fresh.data])

  const waiting = useMemo(
    () =>
      fresh.data === undefined || first === undefined || list.isPlaceholderData
        ? []
        : waitingIssues(held.kept, listed, {
            asOf: first.asOf,
            complete: !list.hasNextPage,
            statuses: filters.status,
          }),
    [fresh.data, first, held.kept, listed, list.hasNextPage, list.isPlaceholderData, filters.status],
  )

  const changed = useRef(new Set<string>())
  const refresh = useThrottled(REFRESH_MS, async () => {
    const ids = changed.current
    changed.current = new Set()
    const { data } = await fresh.refetch({ cancelRefetch: false })
    if (data === undefined) return
    const strays = await Promise.allSettled(
      strayIds(ids, listed, data, STRAYS_AT_ONCE).map((id) =>
        client.query({ ...issueQuery(id, 'latest'), staleTime: 0 }),
      ),
    )
    mergeIntoLists(
      client,
      strays.flatMap((read) => (read.status === 'fulfilled' ? [toIssueRow(read.value)] : [])),
    )
  })
  const refreshVolume = useThrottled(VOLUME_MS, () => client.invalidateQueries({ queryKey: ['volume'] }))

  useLive((messages) => {
    const ours = messages
      .filter((message) => message.kind === 'issues')
      .filter((message) => filters.project === null || message.project_id === filters.project)
    if (ours.length === 0) return
    for (const id of ours.flatMap((message) => message.issue_ids)) changed.current.add(id)
    if (settled) refresh()
    refreshVolume()
  })

  /** Reads the list again from the start, including pending issues. */
  const reload = async () => {
    client.setQueryData<StreamData>(streamQuery(filters).queryKey, (data) =>
      data === undefined ? data : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    )
    await list.refetch()
    await fresh.refetch()
  }

  return {
    list,
    rows,
    waiting,
    reload,
    readAt: first?.readAt ?? 0,
    /** Start of the time range. */
    since: first?.since ?? null,
    settled,
    total: fresh.data?.total ?? first?.total ?? 0,
    totalCapped: (fresh.data ?? first)?.totalCapped ?? false,
    hints: settled ? first.hints : NO_HINTS,
    statusCounts: fresh.data?.statusCounts ?? first?.statusCounts ?? null,
  }
}

/** Removes duplicates: a row may move between the reads of two pages. */
function distinct(pages: readonly StreamPage[]): readonly Issue[] {
  const rows = new Map<string, Issue>()
  for (const page of pages) for (const item of page.items) if (!rows.has(item.id)) rows.set(item.id, item)
  return [...rows.values()]
}
