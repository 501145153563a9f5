import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { usePolling } from '../../../api/live.ts'
import type { HealthView } from '../../../api/metric-queries.ts'
import { performanceQuery, type Performance } from '../../../api/performance-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { HEALTH_RANGE, selectedWindow, type PerformanceSearch } from '../../../address/search.ts'
import { pickHealthFilters } from '../../../subjects/figures/filter-model.ts'
import { buildTimeAxis, type TimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import type { Window } from '../../../subjects/figures/time-window.ts'

const route = getRouteApi('/signed-in/shell/performance')
const REFRESH_MS = 60_000

export type PerformanceChange = (change: Partial<PerformanceSearch>) => void

export type PerformanceAt = ReturnType<typeof usePerformanceView>

/** The address of a performance page, and how it changes. The frame shows pages only with a project. */
export function usePerformanceView(): { view: HealthView; search: PerformanceSearch; change: PerformanceChange } {
  const search = route.useSearch()
  // Without a route: `.` is the tab, not the frame.
  const navigate = useNavigate()
  return {
    view: { projectId: search.project ?? '', range: search.range ?? HEALTH_RANGE, filters: pickHealthFilters(search) },
    search,
    change: (next) => void navigate({ to: '.', search: (before) => ({ ...before, ...next }) }),
  }
}

export function usePerformance(view: HealthView) {
  const polling = usePolling(REFRESH_MS)
  return useQuery({ ...performanceQuery(view), refetchInterval: polling, meta: { quiet: true } })
}

/** The time axis of the charts of a page, and the selected part of the range. */
export function usePerformanceAxis(
  data: Performance,
  { view, search, change }: ReturnType<typeof usePerformanceView>,
): {
  axis: TimeAxis
  window: Window | null
  onWhole: () => void
  releases: readonly { version: string; at: string }[]
} {
  const markers = useQuery({ ...releaseMarkersQuery([view.projectId], data.from, data.to), meta: { quiet: true } })
  const releases = markers.data?.items ?? []
  const window = selectedWindow(search)
  const onWindow = (next: Window | null) => change({ from: next?.from, to: next?.to })
  return {
    axis: buildTimeAxis({
      points: data.series,
      intervalSeconds: data.interval_seconds,
      range: view.range,
      window,
      releases,
      onWindow,
    }),
    window,
    onWhole: () => onWindow(null),
    releases,
  }
}
