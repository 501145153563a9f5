import { compareVersions, parseVersion } from './version.ts'

/** What decides which of two releases of a project is the older one. */
export type ReleaseFacts = {
  readonly version: string
  /** When it was published; null when nobody said so. */
  readonly releasedAt: Date | null
  /** Its first event or session, by receipt; null when none came yet. */
  readonly firstSeenAt: Date | null
}

/**
 * Orders releases of one project: by version, then by release date, then by who was seen first (docs/issues.md).
 * @returns below 0 when `a` is older; 0 when nothing tells them apart
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
  // What was never seen is still to come.
  if (a.firstSeenAt !== null || b.firstSeenAt !== null) return a.firstSeenAt === null ? 1 : -1
  return 0
}
