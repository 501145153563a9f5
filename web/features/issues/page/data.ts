import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { ApiError } from '../../../api/call.ts'
import { commentsQuery } from '../../../api/comment-queries.ts'
import {
  toStreamFilters,
  issueEventQuery,
  issueQuery,
  streamQuery,
  type IssueDetail,
} from '../../../api/issue-queries.ts'
import { useLive, usePolling } from '../../../api/live.ts'
import { subscriptionQuery } from '../../../api/member-queries.ts'
import type { Neighbours } from './head.tsx'
import type { IssuesSearch } from '../../../address/search.ts'
import { useThrottled } from '../../../ui/throttled.ts'
import { recalledStream } from '../../../subjects/issue/stream-memory.ts'

const REFRESH_MS = 2000

/**
 * The data of the issue page. The opened event stays, and is read again when files of symbols change; counts, status and
 * activity are kept up to date, and a newer event is offered.
 */
export function useIssue(issueId: string, choice: string, only: string) {
  const client = useQueryClient()
  const opened = useQuery({
    ...issueEventQuery(issueId, choice, only),
    // While another event of the same issue loads, this one is still shown.
    placeholderData: (before) => (before?.id === issueId ? before : undefined),
  })
  const eventId = opened.data?.event?.event_id ?? choice
  const known = opened.data
  const current = useQuery({
    ...issueQuery(issueId, eventId, only),
    enabled: known !== undefined && !opened.isPlaceholderData,
    ...(known === undefined || opened.isPlaceholderData
      ? {}
      : { initialData: known, initialDataUpdatedAt: opened.dataUpdatedAt }),
    refetchInterval: usePolling(15_000),
  })
  const refresh = useThrottled(REFRESH_MS, () =>
    Promise.all([
      current.refetch({ cancelRefetch: false }).then(({ data }) =>
        // The chart shows the event of a regression when the page says that it came.
        data?.status_changed_at === current.data?.status_changed_at
          ? undefined
          : client.invalidateQueries({ queryKey: ['issue-trend', issueId] }),
      ),
      client.invalidateQueries({ queryKey: commentsQuery(issueId).queryKey }),
      client.invalidateQueries({ queryKey: subscriptionQuery(issueId).queryKey }),
    ]),
  )
  // The issue was deleted or discarded. A single missing event is handled by the picker.
  const lost = isMissing(current.error)
  const { refetch } = opened
  useEffect(() => {
    if (lost) void refetch()
  }, [lost, refetch])
  const gone = lost && isMissing(opened.error)
  const projectId = known?.project_id
  useLive((messages) => {
    const concerns = messages.some(
      (message) =>
        // A release may have the fix, or the commits that are suspects.
        (message.kind === 'releases' && message.project_id === projectId) ||
        (message.kind === 'issues' &&
          message.project_id === projectId &&
          // Too many issues to list: this one may be among them.
          (message.issue_ids.includes(issueId) || message.issue_ids.length === 0)),
    )
    if (concerns && known !== undefined) refresh()
  })
  const issue: IssueDetail | undefined =
    // The same event, read again: files of symbols may have made it readable meanwhile.
    known === undefined || gone ? undefined : { ...(current.data ?? known), event: current.data?.event ?? known.event }
  return {
    issue,
    error: opened.error,
    retry: () => void opened.refetch(),
    newerCame: choice === 'latest' && !opened.isPlaceholderData && (current.data?.event_ids.newer ?? null) !== null,
    /** Loads the newest event, also if an earlier latest event is shown. */
    showNewest: async () => {
      const newest = await client.query({ ...issueQuery(issueId, 'latest', only), staleTime: 0 })
      client.setQueryData(issueEventQuery(issueId, 'latest', only).queryKey, newest)
    },
  }
}

const isMissing = (error: Error | null): boolean => error instanceof ApiError && error.status === 404

/** The last stream, and the neighbours of this issue in it. */
export function useNeighbours(issueId: string): { back: IssuesSearch; neighbours: Neighbours | null } {
  const [back] = useState(recalledStream)
  const filters = useMemo(() => toStreamFilters(back ?? {}), [back])
  const list = useInfiniteQuery({ ...streamQuery(filters), enabled: back !== null, placeholderData: keepPreviousData })
  const { data, hasNextPage, isFetching, fetchNextPage } = list
  const ids = useMemo(() => data?.pages.flatMap((page) => page.items.map((item) => item.id)) ?? [], [data])
  // A change on this page can remove the issue from the list; its last position is kept.
  const [place, setPlace] = useState<{ id: string; ids: readonly string[] } | null>(null)
  if (ids.includes(issueId) && (place?.id !== issueId || place.ids !== ids)) setPlace({ id: issueId, ids })
  const order = place?.id === issueId ? place.ids : ids
  const at = order.indexOf(issueId)

  useEffect(() => {
    if (at >= 0 && at >= order.length - 2 && hasNextPage && !isFetching) void fetchNextPage()
  }, [at, order.length, hasNextPage, isFetching, fetchNextPage])

  const total = data?.pages[0]?.total ?? 0
  const neighbours: Neighbours | null =
    at < 0
      ? null
      : {
          at: at + 1,
          of: Math.max(total, order.length),
          capped: data?.pages[0]?.totalCapped ?? false,
          previous: order[at - 1] ?? null,
          next: order[at + 1] ?? null,
        }
  return { back: back ?? {}, neighbours }
}
