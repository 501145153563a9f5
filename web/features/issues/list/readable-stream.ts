import { useEffect, useMemo, useRef, useState } from 'react'
import { IssuesSearch } from '../../../address/search.ts'
import { toStreamFilters, typedQueryStart } from '../../../api/issue-queries.ts'
import { parseQueryMistake, type QueryMistake } from '../../../subjects/query/mistake.ts'
import { useIssueStream } from './stream.ts'

/** An older list is read again, unless the user returns to it. */
const OLD_MS = 30_000

/**
 * The list of the address `key`. While the query has a mistake, the list is the one of the query before; other
 * filters still apply.
 */
export function useReadableStream(key: string, isNewVisit: boolean) {
  // Memoised, because queries and rows compare them.
  const asked = useMemo(() => toStreamFilters(IssuesSearch.parse(JSON.parse(key))), [key])
  const [readable, setReadable] = useState<string | null>(null)
  const [refused, setRefused] = useState<{ q: string; mistake: QueryMistake } | null>(null)
  const isRefused = refused?.q === asked.q
  const before = isRefused ? readable : null
  const filters = useMemo(
    () => (before === null ? asked : toStreamFilters({ ...IssuesSearch.parse(JSON.parse(key)), q: before })),
    [asked, key, before],
  )
  const stream = useIssueStream(filters)
  const mistake = parseQueryMistake(stream.list.error, typedQueryStart(filters))
  if (mistake !== null && filters === asked && !isRefused) setRefused({ q: asked.q, mistake })
  if (stream.settled && readable !== filters.q) setReadable(filters.q)
  useFreshOnArrival(isNewVisit, stream)
  return { filters, stream, mistake: isRefused ? refused.mistake : mistake }
}

/** Reads an old list again, unless the user returns to it. */
function useFreshOnArrival(isNewVisit: boolean, stream: ReturnType<typeof useIssueStream>): void {
  const arrived = useRef(false)
  useEffect(() => {
    if (arrived.current) return
    arrived.current = true
    if (isNewVisit && stream.settled && Date.now() - stream.readAt > OLD_MS) void stream.reload()
  }, [isNewVisit, stream])
}
