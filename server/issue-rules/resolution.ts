import type { ReleaseFacts } from '../releases/order.ts'
import { compareVersions, parseVersion, type Version } from '../releases/version.ts'

/** The fix of a resolved issue, and whether a release should contain it. Pure. */

export type Fix =
  /** Fixed in every release since the resolution. */
  | { readonly kind: 'now' }
  /** Fixed in these releases: one per branch that has the fix. */
  | { readonly kind: 'release'; readonly versions: readonly string[] }
  /**
   * Fixed in the release after the newest one known at the resolution, `after`; null if none was known. `besides`: the
   * newest of other packages, and releases that exist but have no event yet.
   */
  | { readonly kind: 'next'; readonly after: string | null; readonly besides?: readonly string[] | undefined }
  /** Fixed by a commit that is not in a known release yet. */
  | { readonly kind: 'commit'; readonly sha: string }

/** Known releases by version. */
export type ReleasesByVersion = ReadonlyMap<string, ReleaseFacts>

const factsOf = (version: string, releases: ReleasesByVersion): ReleaseFacts =>
  releases.get(version) ?? { version, releasedAt: null, firstSeenAt: null }

/**
 * Whether a release should contain the fix: it is not older than the fix by version, then by release date, then by when
 * it was first seen (docs/issues.md). Without a release, only a resolution without a release counts. If it is unclear,
 * returns false: a false regression costs more than a late one.
 * @param resolvedAt when the issue was resolved
 */
export function hasFix(fix: Fix, resolvedAt: Date, release: string | null, releases: ReleasesByVersion): boolean {
  if (fix.kind === 'now') return true
  if (release === null || fix.kind === 'commit') return false
  const candidate = factsOf(release, releases)
  return fix.kind === 'release'
    ? isInFixes(candidate, fix.versions, resolvedAt, releases)
    : isNext(candidate, versionsIn(fix), resolvedAt, releases)
}

/** Whether the release is the next one: it was not known at the resolution and is newer than all that were. */
function isNext(
  candidate: ReleaseFacts,
  known: readonly string[],
  resolvedAt: Date,
  releases: ReleasesByVersion,
): boolean {
  if (known.includes(candidate.version)) return false
  if (candidate.firstSeenAt !== null && candidate.firstSeenAt.getTime() <= resolvedAt.getTime()) return false
  return known.every((version) => {
    const byVersion = orderOf(candidate.version, version)
    if (byVersion !== null) return byVersion > 0
    // It was seen later than the known ones, but release dates decide first.
    return (byReleaseDate(candidate, factsOf(version, releases)) ?? (candidate.firstSeenAt === null ? -1 : 1)) > 0
  })
}

/**
 * Each of several fixes decides for its branch (major.minor). A release newer than every fix contains it, an older one
 * does not. A branch without a fix, between two with one, contains it unless it was released before the lower fix. Fixes
 * of the same package decide first; other packages can be compared by time only.
 */
function isInFixes(
  candidate: ReleaseFacts,
  versions: readonly string[],
  resolvedAt: Date,
  releases: ReleasesByVersion,
): boolean {
  if (versions.includes(candidate.version)) return true
  const all = versions.map((version) => factsOf(version, releases))
  const fixes = all.filter((fix) => isSamePackage(candidate.version, fix.version))
  if (fixes.length === 0) return all.every((fix) => isNewer(candidate, fix))
  const ofBranch = fixes.filter((fix) => isSameBranch(candidate.version, fix.version))
  if (ofBranch.length > 0) return ofBranch.some((fix) => isNotOlder(candidate, fix))
  const older = fixes.filter((fix) => isNotOlder(candidate, fix))
  if (older.length === 0) return false
  if (older.length === fixes.length) return true
  const below = older.reduce((highest, fix) => ((orderOf(fix.version, highest.version) ?? 0) > 0 ? fix : highest))
  return !wasReleasedBefore(candidate, below, resolvedAt)
}

/** A fix without events counts as released on its release date, or else when the issue was resolved. */
function wasReleasedBefore(candidate: ReleaseFacts, fix: ReleaseFacts, resolvedAt: Date): boolean {
  const byDate = byReleaseDate(candidate, fix)
  if (byDate !== null) return byDate < 0
  if (candidate.firstSeenAt === null) return false
  if (fix.firstSeenAt !== null) return candidate.firstSeenAt < fix.firstSeenAt
  return candidate.firstSeenAt <= (fix.releasedAt ?? resolvedAt)
}

/** By version, or by dates if versions have no order (builds). Equal versions are not older, whenever they were seen. */
function isNotOlder(candidate: ReleaseFacts, fix: ReleaseFacts): boolean {
  const byVersion = orderOf(candidate.version, fix.version)
  return byVersion === null ? isNewer(candidate, fix) : byVersion >= 0
}

/** Compares versions; without a package, `2.3.1` equals `com.acme@2.3.1`. Returns null if they have no order. */
function orderOf(a: string, b: string): number | null {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  return one === null || other === null ? null : orderOfVersions(one, other)
}

const orderOfVersions = (a: Version, b: Version): number | null =>
  isOfSamePackage(a, b) ? compareVersions({ ...a, package: null }, { ...b, package: null }) : null

const isOfSamePackage = (a: Version, b: Version): boolean =>
  a.package === null || b.package === null || a.package === b.package

function isSamePackage(a: string, b: string): boolean {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  return one !== null && other !== null && isOfSamePackage(one, other)
}

function isSameBranch(a: string, b: string): boolean {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  return one !== null && other !== null && branchOf(one) === branchOf(other)
}

const branchOf = ({ numbers }: Version): string => `${numbers[0] ?? 0n}.${numbers[1] ?? 0n}`

/** By release date if both have one, else by when they were first seen; false if unknown. */
function isNewer(a: ReleaseFacts, b: ReleaseFacts): boolean {
  const byDate = byReleaseDate(a, b)
  if (byDate !== null) return byDate > 0
  return a.firstSeenAt !== null && b.firstSeenAt !== null && a.firstSeenAt.getTime() > b.firstSeenAt.getTime()
}

/** Returns null if a date is missing or both are equal. */
function byReleaseDate({ releasedAt: a }: ReleaseFacts, { releasedAt: b }: ReleaseFacts): number | null {
  return a === null || b === null || a.getTime() === b.getTime() ? null : a.getTime() - b.getTime()
}

/**
 * Returns the fix "in the next release": after the highest version of each package, the newest name that is not a version,
 * and releases without events.
 * @param releases existing releases, newest first
 */
export function nextAfter(releases: readonly ReleaseFacts[]): Fix {
  const newest = new Map<string, NamedVersion>()
  const unseen: string[] = []
  for (const { version: name, firstSeenAt } of releases) {
    const version = parseVersion(name)
    const key = version === null ? 'no version' : packageKey(version.package)
    const best = newest.get(key)
    if (best === undefined || isHigher({ name, version }, best)) newest.set(key, { name, version })
    if (version === null && firstSeenAt === null) unseen.push(name)
  }
  // A version without a package is compared with each package; two packages cannot be compared.
  const bare = newest.get(packageKey(null))
  const highest = [...newest.values()].filter((one) =>
    one === bare ? !newest.values().some((other) => isHigher(other, one)) : bare === undefined || !isHigher(bare, one),
  )
  const [after, ...others] = highest.map(({ name }) => name)
  if (after === undefined) return { kind: 'next', after: null }
  const besides = [...new Set([...others, ...unseen])].filter((version) => version !== after).slice(0, MAX_BESIDES)
  return { kind: 'next', after, ...(besides.length === 0 ? {} : { besides }) }
}

/** A release name, parsed once: a project may have a thousand packages. */
type NamedVersion = { readonly name: string; readonly version: Version | null }

const packageKey = (name: string | null): string => `package ${name ?? ''}`

const isHigher = (a: NamedVersion, b: NamedVersion): boolean =>
  a.version !== null && b.version !== null && (orderOfVersions(a.version, b.version) ?? 0) > 0

/** Limited, because they are read with every batch that has an event of the issue. */
const MAX_BESIDES = 50

/** Returns the versions whose facts {@link hasFix} needs. */
export function versionsIn(fix: Fix): readonly string[] {
  if (fix.kind === 'release') return fix.versions
  return fix.kind === 'next' && fix.after !== null ? [fix.after, ...(fix.besides ?? [])] : []
}

/** Returns ` in release 2.3.1 and 3.0.2`, for sentences; empty without a release. */
export function fixPhrase(fix: Fix): string {
  switch (fix.kind) {
    case 'now':
      return ''
    case 'release':
      return ` in release ${listed(fix.versions)}`
    case 'next':
      return fix.after === null ? ' in the next release' : ` in the next release after ${fix.after}`
    case 'commit':
      return ` in commit ${fix.sha.slice(0, 12)}`
  }
}

/** Returns `fixed in 2.3.1`, for the sentence of a regression. */
export function fixedPhrase(fix: Fix): string {
  if (fix.kind === 'release') return `fixed in ${listed(fix.versions)}`
  if (fix.kind !== 'next') return 'fixed before'
  return fix.after === null ? 'fixed in the next release' : `fixed in the release after ${fix.after}`
}

export const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

export const isSameFix = (a: Fix, b: Fix): boolean => JSON.stringify(a) === JSON.stringify(b)
