import type { FaultLine } from '../ui/bar-chart.tsx'
import { versionOf, type Trend } from './issue-trend.ts'

/** Which releases a chart of an issue names. Pure. */

const MOST = 5
/** Labels nearer to each other than this would run into one another. */
const APART = 0.14

type Marker = { version: string; at: string; project_id?: string; platform?: string }

/**
 * The release it came back in first, then those of its `own`, then the newest that came out in the time shown, as far as their
 * names fit.
 */
export function faultLines(
  came: FaultLine | null,
  markers: readonly Marker[],
  { start, interval_seconds: seconds, counts }: Pick<Trend, 'start' | 'interval_seconds' | 'counts'>,
  own: readonly (string | null)[] = [],
): FaultLine[] {
  const span = seconds * 1000 * counts.length
  const lines: FaultLine[] = came === null ? [] : [came]
  // Of several projects each line says which.
  const several = new Set(markers.map((marker) => marker.project_id)).size > 1
  for (const { version, at, platform } of markers.toSorted(
    (a, b) => Number(own.includes(b.version)) - Number(own.includes(a.version)) || b.at.localeCompare(a.at),
  )) {
    const place = (Date.parse(at) - Date.parse(start)) / span
    if (lines.length === MOST) break
    if (place < 0 || place > 1 || lines.some((line) => Math.abs(line.at - place) < APART)) continue
    lines.push({ at: place, label: versionOf(version), ...(several && platform !== undefined ? { platform } : {}) })
  }
  return lines
}
