import type { Marker } from '../../ui/chart/chart-frame.tsx'
import { shortVersion, type Trend } from '../issue/trend.ts'

/** The markers of releases on a chart of an issue. Pure. */

const MAX_MARKERS = 5
/** Markers closer to each other than this share of the chart are not legible. */
const MIN_DISTANCE = 0.03

type ReleaseMarker = { version: string; at: string; project_id?: string; platform?: string }

/** The issue's releases: those it was seen in, the one with the fix, and the note of the fix. */
type IssueReleases = { seen: readonly (string | null)[]; fixed: string | null; note: string }

/** In this order, if they fit: the regression, the fix, releases with the issue, then the newest releases. */
export function chooseMarkers(
  regression: Marker | null,
  releases: readonly ReleaseMarker[],
  { start, interval_seconds: seconds, counts }: Pick<Trend, 'start' | 'interval_seconds' | 'counts'>,
  own: IssueReleases = { seen: [], fixed: null, note: '' },
): Marker[] {
  const span = seconds * 1000 * counts.length
  const markers: Marker[] = regression === null ? [] : [regression]
  const weight = ({ version }: ReleaseMarker): number =>
    version === own.fixed ? 2 : own.seen.includes(version) ? 1 : 0
  // With several projects, each marker shows its platform.
  const several = new Set(releases.map((release) => release.project_id)).size > 1
  for (const release of releases.toSorted((a, b) => weight(b) - weight(a) || b.at.localeCompare(a.at))) {
    const { version, at, platform } = release
    const place = (Date.parse(at) - Date.parse(start)) / span
    const isNear = markers.some((marker) => Math.abs(marker.at - place) < MIN_DISTANCE)
    if (markers.length === MAX_MARKERS) break
    if (place < 0 || place > 1 || isNear) continue
    markers.push({
      at: place,
      label: shortVersion(version),
      ...(version === own.fixed ? { tone: 'ok', note: own.note } : {}),
      ...(several && platform !== undefined ? { platform } : {}),
    })
  }
  return markers
}
