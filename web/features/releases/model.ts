import type { CrashFreeHours, ReleaseRow, ReleasesHealth } from '../../api/release-queries.ts'
import type { StackLayer } from '../../ui/chart/stack-chart.tsx'

/** What the releases pages make of the answers. Pure. */

/** `com.acme.shop@4.12.0+41200` → its version, and what stands around it. */
export function partsOf(version: string): { package: string | null; version: string; build: string | null } {
  const match = /^(?:(.+)@)?([^@+]+)(?:\+(.+))?$/u.exec(version)
  if (match === null) return { package: null, version, build: null }
  return { package: match[1] ?? null, version: match[2] ?? version, build: match[3] ?? null }
}

/** Short names, but whole ones where two releases would be called the same. */
export function shortNames(versions: readonly string[]): Map<string, string> {
  const short = versions.map((version) => partsOf(version).version)
  return new Map(
    versions.map((version, index) => {
      const name = short[index] ?? version
      return [version, short.filter((other) => other === name).length > 1 ? version : name]
    }),
  )
}

/** Colours of layers, from the newest release on. */
const LAYER_TONES = ['newest', 'layer-1', 'layer-2', 'layer-3', 'layer-4'] as const

/** The oldest at the bottom, above everything that has no layer of its own. */
export function layersOf(adoption: NonNullable<ReleasesHealth['adoption']>, othersLabel: string): StackLayer[] {
  const names = shortNames(adoption.releases.map((release) => release.version))
  const share = (sessions: readonly number[]) =>
    adoption.totals.map((total, index) => (total <= 0 ? null : (sessions[index] ?? 0) / total))
  const layers = adoption.releases.map((release, index) => ({
    label: names.get(release.version) ?? release.version,
    tone: LAYER_TONES[index] ?? 'layer-4',
    shares: share(release.sessions),
  }))
  const others = adoption.others.some((count) => count > 0)
    ? [{ label: othersLabel, tone: 'others' as const, shares: share(adoption.others) }]
    : []
  return [...others, ...layers.reverse()]
}

/** Hours a line may have. */
export const MAX_HOURS = 48

/** Fewer sessions than this draw no line: three of them are all well, or a third crashed. */
const MIN_SESSIONS = 100

/** The value at each whole hour since release: at hour 1 what the first hour counted. */
export const valuesOf = (hours: CrashFreeHours): (number | null)[] =>
  Array.from({ length: MAX_HOURS + 1 }, (_, place) => {
    const hour = hours[place - 1]
    return hour === undefined || hour.sessions < MIN_SESSIONS ? null : hour.crash_free_sessions
  })

/** Releases that came out in the time a chart shows, the newest first, as places on it. */
export function markersOf(
  lines: ReleasesHealth['crash_free'],
  times: readonly string[],
  intervalSeconds: number,
): { at: number; label: string }[] {
  const first = Date.parse(times[0] ?? '')
  const span = times.length * intervalSeconds * 1000
  const names = shortNames(lines.map((line) => line.version))
  return lines.flatMap((line) => {
    const at = (Date.parse(line.since) - first) / span
    return at <= 0.02 || at > 1 ? [] : [{ at, label: names.get(line.version) ?? line.version }]
  })
}

/** By how much crash-free sessions changed against the release before; null where one of them says nothing. */
export const changeOf = ({ crash_free_sessions: now, previous }: ReleaseRow): number | null =>
  now === null || previous === null ? null : now - previous.crash_free_sessions

/** What the bands of the chart say of a value. */
export function gradeOf(crashFree: number): 'good' | 'warn' | 'bad' {
  return crashFree >= 0.995 ? 'good' : crashFree >= 0.99 ? 'warn' : 'bad'
}

export const VERDICT_LOOKS = {
  healthy: { colour: 'green', icon: 'check' },
  watch: { colour: 'amber', icon: 'eye' },
  hold: { colour: 'red', icon: 'warn' },
  too_early: { colour: 'plain', icon: 'clock' },
  replaced: { colour: 'plain', icon: null },
  no_sessions: { colour: 'plain', icon: null },
  planned: { colour: 'blue', icon: null },
  archived: { colour: 'plain', icon: null },
} as const

const DAY_MS = 86_400_000

/** How often to look again: a release under 48 hours old is watched, others hardly change. */
export const refreshMs = (rows: readonly Pick<ReleaseRow, 'first_seen' | 'released_at'>[], now: number): number =>
  rows.some((row) => now - Date.parse(row.released_at ?? row.first_seen ?? '') < 2 * DAY_MS) ? 60_000 : 300_000

/** The line that names a release, by platform of the project. */
export function releaseLine(platform: string, name: string): string {
  const version = `${name}@1.0.0`
  switch (platform) {
    case 'android':
      return `<meta-data android:name="io.sentry.release" android:value="${version}" />`
    case 'ios':
      return `options.releaseName = "${version}"`
    case 'flutter':
      return `options.release = '${version}';`
    default:
      return `Sentry.init({ dsn, release: '${version}' })`
  }
}
