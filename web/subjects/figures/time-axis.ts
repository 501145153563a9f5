import { formatClock, formatDay, zoneName } from '../../ui/format.ts'

/** Labels of a time axis. Pure, apart from the chosen time zone. */

export type AxisRange = '1h' | '24h' | '7d' | '30d'

/** The number of labels under a chart, with the first and the last at its edges. */
const LABELS: Readonly<Record<AxisRange, number>> = { '1h': 7, '24h': 7, '7d': 8, '30d': 7 }

/** Evenly spread labels from the start of the first bucket to the end of the last. They name the zone if it is not local. */
export function axisLabels(starts: readonly string[], intervalSeconds: number, range: AxisRange): string[] {
  const [first] = starts
  if (first === undefined) return []
  const from = Date.parse(first)
  const span = starts.length * intervalSeconds * 1000
  const count = LABELS[range]
  const labels = Array.from({ length: count }, (_, index) => {
    const at = from + (span * index) / (count - 1)
    return range === '1h' || range === '24h' ? formatClock(at) : formatDay(at)
  })
  const local = zoneName(from, 'local')
  const shown = zoneName(from)
  const last = labels.at(-1)
  if (shown !== local && last !== undefined) labels[labels.length - 1] = `${last} ${shown}`
  return labels
}

/** `14:00 to 14:15`, with the day if the chart spans more than one. */
export function bucketLabel(start: string, intervalSeconds: number, range: AxisRange): string {
  const end = Date.parse(start) + intervalSeconds * 1000
  const times = `${formatClock(start)} to ${formatClock(end)}`
  return range === '1h' || range === '24h' ? times : `${formatDay(start)}, ${times}`
}
