import type { CrashFreeHours, ReleaseRow, ReleasesHealth } from '../../../api/release-queries.ts'
import type { StackLayer } from '../../../ui/chart/stack-chart.tsx'
import { DAY_MS, formatPoints, formatRate } from '../../../ui/format.ts'
import { releasesTexts } from './texts.ts'

/** View models of the releases pages. Pure. */

/** `com.acme.shop@4.12.0+41200` → package, version and build. */
export function splitVersion(version: string): { package: string | null; version: string; build: string | null } {
  const match = /^(?:(.+)@)?([^@+]+)(?:\+(.+))?$/u.exec(version)
  if (match === null) return { package: null, version, build: null }
  return { package: match[1] ?? null, version: match[2] ?? version, build: match[3] ?? null }
}

/** Short names; full names if two short ones would be the same. */
export function shortNames(versions: readonly string[]): Map<string, string> {
  const short = versions.map((version) => splitVersion(version).version)
  return new Map(
    versions.map((version, index) => {
      const name = short[index] ?? version
      return [version, short.filter((other) => other === name).length > 1 ? version : name]
    }),
  )
}

/** The names of rows that also have the build: with the package where there are several. */
export function tableNames(versions: readonly string[]): Map<string, string> {
  const all = versions.map((version) => ({ whole: version, ...splitVersion(version) }))
  const isOne = new Set(all.map((parts) => parts.package)).size <= 1
  return new Map(
    all.map(({ whole, package: from, version }) => [whole, isOne || from === null ? version : `${from}@${version}`]),
  )
}

/** Colours of layers, from the newest release. */
const LAYER_TONES = ['newest', 'layer-1', 'layer-2', 'layer-3', 'layer-4'] as const

/** The layers of adoption: at the bottom all releases without a layer, then from the oldest to the newest. */
export function adoptionLayers(adoption: NonNullable<ReleasesHealth['adoption']>, othersLabel: string): StackLayer[] {
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

/** The maximum length of a line, in hours. */
export const MAX_HOURS = 48

/** With fewer sessions a rate says nothing, so it is not drawn. */
const MIN_SESSIONS = 100

/** The value at each whole hour since the release; hour 1 has the value of the first hour. */
export const crashFreeValues = (hours: CrashFreeHours): (number | null)[] =>
  Array.from({ length: MAX_HOURS + 1 }, (_, place) => {
    const hour = hours[place - 1]
    return hour === undefined || hour.sessions < MIN_SESSIONS ? null : hour.crash_free_sessions
  })

/** Markers of the releases in the time of a chart, newest first. */
export function releaseMarkers(
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

/**
 * The change of crash-free sessions from the earlier release: of a rollout at equal age, else over the range. Null if one
 * of the rates is unknown.
 */
export function crashFreeChange({
  crash_free_sessions: now,
  previous,
  comparison,
}: Pick<ReleaseRow, 'crash_free_sessions' | 'previous' | 'comparison'>): number | null {
  const atAge = comparison?.release.crash_free_sessions ?? null
  const before = comparison?.previous.crash_free_sessions ?? null
  if (atAge !== null && before !== null) return atAge - before
  return now === null || previous === null ? null : now - previous.crash_free_sessions
}

/** The newest release against the one before, both at the same age; null if none can be compared. */
export function comparisonText(rows: readonly Pick<ReleaseRow, 'comparison'>[]): string | null {
  for (const { comparison } of rows) {
    const now = comparison?.release.crash_free_sessions ?? null
    const before = comparison?.previous.crash_free_sessions ?? null
    if (comparison === null || now === null || before === null) continue
    const { release, previous, age_hours: hours } = comparison
    const names = shortNames([release.version, previous.version])
    return releasesTexts.atAge(
      names.get(release.version) ?? release.version,
      formatRate(now),
      formatPoints(now - before),
      names.get(previous.version) ?? previous.version,
      hours,
    )
  }
  return null
}

/** The tone of a rate, by the thresholds of the chart. */
export function gradeCrashFree(crashFree: number): 'good' | 'warn' | 'bad' {
  return crashFree >= 0.995 ? 'good' : crashFree >= 0.99 ? 'warn' : 'bad'
}

/** The refetch interval: shorter for a release less than 48 hours old. */
export const refreshMs = (rows: readonly Pick<ReleaseRow, 'first_seen' | 'released_at'>[], now: number): number =>
  rows.some((row) => now - Date.parse(row.released_at ?? row.first_seen ?? '') < 2 * DAY_MS) ? 60_000 : 300_000

/** The code that sets the release, by platform. */
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
