import { compareVersions, parseVersion } from './version.ts'

/** The facts that decide which of two releases of a project is older. */
export type ReleaseFacts = {
  readonly version: string
  /** When it was published; null when not set. */
  readonly releasedAt: Date | null
  /** Receipt of its first event or session; null without any. */
  readonly firstSeenAt: Date | null
}

/**
 * Orders releases of one project: by version, then by release date, then by first seen (docs/issues.md).
 * @returns below 0 when `a` is older; 0 when the order is unknown
 */
export function compareReleases(a: ReleaseFacts, b: ReleaseFacts): number {
  if (a.version === b.version) return 0
  const one = parseVersion(a.version)
  const other = parseVersion(b.version)
  const byVersion = one === null || other === null ? null : compareVersions(one, other)
  if (byVersion !== null && byVersion !== 0) return byVersion
  if (a.releasedAt !== null && b.releasedAt !== null && a.releasedAt.getTime() !== b.releasedAt.getTime())
    return a.releasedAt.getTime() - b.releasedAt.getTime()
  if (a.firstSeenAt !== null && b.firstSeenAt !== null) return a.firstSeenAt.getTime() - b.firstSeenAt.getTime()
  // A release that was never seen is newer than one that was.
  if (a.firstSeenAt !== null || b.firstSeenAt !== null) return a.firstSeenAt === null ? 1 : -1
  return 0
}
