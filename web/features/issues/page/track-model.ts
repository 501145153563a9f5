/** The releases around a regression in order of date, for the reason banner. Pure. */

export type TrackNode = {
  version: string
  /** `before` and `between` are relative to the release with the fix. */
  kind: 'before' | 'fixed' | 'between' | 'back'
  /** Whether the issue was seen in it. */
  isSeen: boolean
}

/** `shopper@4.12.0` → `shopper`. Releases of different apps in a project have no common order. */
const packageOf = (version: string): string => version.slice(0, Math.max(0, version.lastIndexOf('@')))

/** The maximum number of further releases on each side. */
const MAX_BEFORE = 2
const MAX_BETWEEN = 2

/**
 * The releases of fix and regression, and those nearest to the fix. Only the two if the fix is not the earlier one, as
 * with a fix on an older branch.
 * @param markers oldest first
 */
export function buildTrack(
  fixed: string,
  back: string,
  markers: readonly { version: string }[],
  seen: ReadonlySet<string>,
): TrackNode[] {
  const versions = markers.map(({ version }) => version).filter((version) => packageOf(version) === packageOf(back))
  const [at, end] = [versions.indexOf(fixed), versions.indexOf(back)]
  const node = (kind: TrackNode['kind']) => (version: string) => ({ version, kind, isSeen: seen.has(version) })
  const two = [node('fixed')(fixed), { ...node('back')(back), isSeen: true }]
  if (at < 0 || end < 0 || at >= end) return two
  return [
    ...versions.slice(Math.max(0, at - MAX_BEFORE), at).map(node('before')),
    ...two.slice(0, 1),
    ...versions
      .slice(at + 1, end)
      .slice(0, MAX_BETWEEN)
      .map(node('between')),
    ...two.slice(1),
  ]
}
