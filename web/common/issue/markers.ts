import type { Marker } from '../../ui/chart/chart-frame.tsx'
import { versionOf, type Trend } from './trend.ts'

/** Which releases a chart of an issue names. Pure. */

const MOST = 5
/** Lines nearer to each other than this cannot be told apart. */
const APART = 0.03

type ReleaseMarker = { version: string; at: string; project_id?: string; platform?: string }

/** Releases of the issue itself: those it was met in, and the one with the fix, with the word that says so. */
type Own = { met: readonly (string | null)[]; fixed: string | null; note: string }

/**
 * The release it came back in first, then those of its own, the fix before all, then the newest that came out in the
 * time shown, as far as their names fit.
 */
export function markersOf(
  came: Marker | null,
  markers: readonly ReleaseMarker[],
  { start, interval_seconds: seconds, counts }: Pick<Trend, 'start' | 'interval_seconds' | 'counts'>,
  own: Own = { met: [], fixed: null, note: '' },
): Marker[] {
  const span = seconds * 1000 * counts.length
  const lines: Marker[] = came === null ? [] : [came]
  const weight = ({ version }: ReleaseMarker): number => (version === own.fixed ? 2 : own.met.includes(version) ? 1 : 0)
  // Of several projects each line says which.
  const several = new Set(markers.map((marker) => marker.project_id)).size > 1
  for (const marker of markers.toSorted((a, b) => weight(b) - weight(a) || b.at.localeCompare(a.at))) {
    const { version, at, platform } = marker
    const place = (Date.parse(at) - Date.parse(start)) / span
    const isNear = lines.some((line) => Math.abs(line.at - place) < APART)
    if (lines.length === MOST) break
    if (place < 0 || place > 1 || isNear) continue
    lines.push({
      at: place,
      label: versionOf(version),
      ...(version === own.fixed ? { tone: 'ok', note: own.note } : {}),
      ...(several && platform !== undefined ? { platform } : {}),
    })
  }
  return lines
}
