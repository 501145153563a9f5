/** The releases around a regression, in the order they came out: what the line of the reason banner shows. Pure. */

export type TrackNode = {
  version: string
  /** `before` and `between` stand around the release with the fix. */
  kind: 'before' | 'fixed' | 'between' | 'back'
  /** Whether the issue was met in it. */
  isSeen: boolean
}

/** `shopper@4.12.0` → `shopper`: several apps may share a project, and have nothing to do with each other's order. */
const packageOf = (version: string): string => version.slice(0, Math.max(0, version.lastIndexOf('@')))

/** So many beside the two that count. */
const MAX_BEFORE = 2
const MAX_BETWEEN = 2

/**
 * The fix and the return, and the releases nearest to the fix. Where dates do not say that the fix came out first, as
 * with a fix on an older branch, only these two.
 * @param markers oldest first
 */
export function trackOf(
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
