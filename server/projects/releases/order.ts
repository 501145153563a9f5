import { compareVersions, parseVersion } from './version.ts'

/** The facts that decide which of two releases of a project is older. */
export type ReleaseFacts = {
  readonly version: string
  /** When it was published; null when not set. */
  readonly releasedAt: Date | null
  /** When a member, a tool or its first event created it; null or missing when unknown. */
  readonly createdAt?: Date | null
  /** Receipt of its first event or session; null without any. */
  readonly firstSeenAt: Date | null
}

/**
 * Orders releases of one project: by version, then by time (docs/issues.md).
 * @returns below 0 when `a` is older; 0 when the order is unknown
 */
export function compareReleases(a: ReleaseFacts, b: ReleaseFacts): number {
  if (a.version === b.version) return 0
  const one = parseVersion(a.version)
  const other = parseVersion(b.version)
  const byVersion = one === null || other === null ? null : compareVersions(one, other)
  if (byVersion !== null && byVersion !== 0) return byVersion
  const byTime = compareTimes(a, b)
  if (byTime !== null) return byTime
  // A release that was never seen is newer than one that was.
  if ((a.firstSeenAt === null) !== (b.firstSeenAt === null)) return a.firstSeenAt === null ? 1 : -1
  return 0
}

/**
 * Orders two releases by release date if both have one, else by first seen. If one was never seen, each counts from when
 * it was released, else created, else first seen.
 * @returns below 0 when `a` is older; null when the order is unknown
 */
export function compareTimes(a: ReleaseFacts, b: ReleaseFacts): number | null {
  return (
    byDate(a.releasedAt, b.releasedAt) ??
    (a.firstSeenAt !== null && b.firstSeenAt !== null
      ? byDate(a.firstSeenAt, b.firstSeenAt)
      : byDate(startOf(a), startOf(b)))
  )
}

const startOf = ({ releasedAt, createdAt, firstSeenAt }: ReleaseFacts): Date | null =>
  releasedAt ?? createdAt ?? firstSeenAt

/** Returns null if a date is missing or both are equal. */
export const byDate = (a: Date | null, b: Date | null): number | null =>
  a === null || b === null || a.getTime() === b.getTime() ? null : a.getTime() - b.getTime()
