import type { Volume } from '../../../api/issue-queries.ts'
import type { Buckets } from '../../../ui/chart/use-chart-reading.ts'

/** Sums over a selected part of the range. Pure. @param buckets null for all */
export function sumOfPoints(points: Volume['points'], buckets: Buckets | null): { events: number; fatal: number } {
  const [from, to] = buckets ?? [0, points.length - 1]
  return points
    .slice(from, to + 1)
    .reduce((sum, point) => ({ events: sum.events + point.events, fatal: sum.fatal + point.fatal }), {
      events: 0,
      fatal: 0,
    })
}
