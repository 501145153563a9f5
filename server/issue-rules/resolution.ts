import type { ReleaseFacts } from '../releases/order.ts'
import { compareVersions, parseVersion, type Version } from '../releases/version.ts'

/** What fixes a resolved issue, and whether an event comes from a release that should have the fix. Pure. */

export type Fix =
  /** Fixed everywhere from that moment on. */
  | { readonly kind: 'now' }
  /** Fixed in these releases: one, or one for each branch it was brought to. */
  | { readonly kind: 'release'; readonly versions: readonly string[] }
  /**
   * Fixed in whatever comes after the newest release known then; null where none was known. Besides: the newest of other
   * packages, and those that were made but from which nothing had come yet.
   */
  | { readonly kind: 'next'; readonly after: string | null; readonly besides?: readonly string[] | undefined }
  /** Fixed by a commit that no release is known to have yet. */
  | { readonly kind: 'commit'; readonly sha: string }

/** Facts of releases by version, as far as they are known. */
export type ReleasesByVersion = ReadonlyMap<string, ReleaseFacts>

const factsOf = (version: string, releases: ReleasesByVersion): ReleaseFacts =>
  releases.get(version) ?? { version, releasedAt: null, firstSeenAt: null }

/**
 * Whether a release that is met now should have the fix: it is not older than the fix by version, then by release date,
 * then by who was seen first. An event without release counts only against a plain resolve (docs/issues.md). What nobody
 * can tell is no: a false regression costs more than a late one.
 * @param resolvedAt when the issue was resolved
 */
export function hasFix(fix: Fix, resolvedAt: Date, release: string | null, releases: ReleasesByVersion): boolean {
  if (fix.kind === 'now') return true
  if (release === null || fix.kind === 'commit') return false
  const met = factsOf(release, releases)
  return fix.kind === 'release'
    ? isInFixes(met, fix.versions, resolvedAt, releases)
    : isNext(met, versionsIn(fix), resolvedAt, releases)
}

/** Resolved for every release known by then, in whatever order they stand: the fix is in what was not there yet, and is newer. */
function isNext(met: ReleaseFacts, known: readonly string[], resolvedAt: Date, releases: ReleasesByVersion): boolean {
  if (known.includes(met.version)) return false
  if (met.firstSeenAt !== null && met.firstSeenAt.getTime() <= resolvedAt.getTime()) return false
  return known.every((version) => {
    const byVersion = orderOf(met.version, version)
    if (byVersion !== null) return byVersion > 0
    // Seen after all that was known, unless somebody says when it was made.
    return (byReleaseDate(met, factsOf(version, releases)) ?? (met.firstSeenAt === null ? -1 : 1)) > 0
  })
}

/**
 * With several fixes each speaks for its own branch (major.minor). A branch without one, between two that have one, has
 * it by version unless it is known to have been out before the fix below it. What is newer than every fix has it, what is
 * older has not. Fixes of the package that is met speak before those of other packages, which can only be told apart by
 * time.
 */
function isInFixes(
  met: ReleaseFacts,
  versions: readonly string[],
  resolvedAt: Date,
  releases: ReleasesByVersion,
): boolean {
  if (versions.includes(met.version)) return true
  const all = versions.map((version) => factsOf(version, releases))
  const fixes = all.filter((fix) => isSamePackage(met.version, fix.version))
  if (fixes.length === 0) return all.every((fix) => isNewer(met, fix))
  const ofBranch = fixes.filter((fix) => isSameBranch(met.version, fix.version))
  if (ofBranch.length > 0) return ofBranch.some((fix) => isNotOlder(met, fix))
  const older = fixes.filter((fix) => isNotOlder(met, fix))
  if (older.length === 0) return false
  if (older.length === fixes.length) return true
  const below = older.reduce((highest, fix) => ((orderOf(fix.version, highest.version) ?? 0) > 0 ? fix : highest))
  return !wasReleasedBefore(met, below, resolvedAt)
}

/** A fix nobody has seen is out when it was released, or still to come when the issue was resolved in it. */
function wasReleasedBefore(met: ReleaseFacts, fix: ReleaseFacts, resolvedAt: Date): boolean {
  const byDate = byReleaseDate(met, fix)
  if (byDate !== null) return byDate < 0
  if (met.firstSeenAt === null) return false
  if (fix.firstSeenAt !== null) return met.firstSeenAt < fix.firstSeenAt
  return met.firstSeenAt <= (fix.releasedAt ?? resolvedAt)
}

/** By version; where that says nothing (builds without order) by dates. Equal versions are not older, whoever was seen first. */
function isNotOlder(met: ReleaseFacts, fix: ReleaseFacts): boolean {
  const byVersion = orderOf(met.version, fix.version)
  return byVersion === null ? isNewer(met, fix) : byVersion >= 0
}

/** A fix named without a package (`2.3.1`) speaks of the app's own (`com.acme@2.3.1`). Null: no version tells them apart. */
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

/** By release date where both have one, else by who was seen first; unknown is no. */
function isNewer(a: ReleaseFacts, b: ReleaseFacts): boolean {
  const byDate = byReleaseDate(a, b)
  if (byDate !== null) return byDate > 0
  return a.firstSeenAt !== null && b.firstSeenAt !== null && a.firstSeenAt.getTime() > b.firstSeenAt.getTime()
}

/** Null where one of them has none, or both have the same. */
function byReleaseDate({ releasedAt: a }: ReleaseFacts, { releasedAt: b }: ReleaseFacts): number | null {
  return a === null || b === null || a.getTime() === b.getTime() ? null : a.getTime() - b.getTime()
}

/**
 * What was the newest by the time somebody resolves in the next release: the highest version of each package, the newest
 * of the names that are no versions, and what was made but not seen yet.
 * @param releases those that are out, the newest in time first
 */
export function nextAfter(releases: readonly ReleaseFacts[]): Fix {
  const newest = new Map<string, Read>()
  const unseen: string[] = []
  for (const { version: name, firstSeenAt } of releases) {
    const version = parseVersion(name)
    const key = version === null ? 'no version' : packageKey(version.package)
    const best = newest.get(key)
    if (best === undefined || isHigher({ name, version }, best)) newest.set(key, { name, version })
    if (version === null && firstSeenAt === null) unseen.push(name)
  }
  // Of a package written with and without its name only the higher one counts; two packages cannot be compared.
  const bare = newest.get(packageKey(null))
  const highest = [...newest.values()].filter((one) =>
    one === bare ? !newest.values().some((other) => isHigher(other, one)) : bare === undefined || !isHigher(bare, one),
  )
  const [after, ...others] = highest.map(({ name }) => name)
  if (after === undefined) return { kind: 'next', after: null }
  const besides = [...new Set([...others, ...unseen])].filter((version) => version !== after).slice(0, MAX_BESIDES)
  return { kind: 'next', after, ...(besides.length === 0 ? {} : { besides }) }
}

/** A name taken apart once: a project may have a thousand packages. */
type Read = { readonly name: string; readonly version: Version | null }

const packageKey = (name: string | null): string => `package ${name ?? ''}`

const isHigher = (a: Read, b: Read): boolean =>
  a.version !== null && b.version !== null && (orderOfVersions(a.version, b.version) ?? 0) > 0

/** They are read with every batch that brings an event of the issue. */
const MAX_BESIDES = 50

/** Versions of which {@link hasFix} wants to know the facts. */
export function versionsIn(fix: Fix): readonly string[] {
  if (fix.kind === 'release') return fix.versions
  return fix.kind === 'next' && fix.after !== null ? [fix.after, ...(fix.besides ?? [])] : []
}

/** `in release 2.3.1 and 3.0.2`, for sentences; empty for a plain resolve. */
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

/** What an event contradicts, for the sentence of a regression. */
export function fixedPhrase(fix: Fix): string {
  if (fix.kind === 'release') return `fixed in ${listed(fix.versions)}`
  if (fix.kind !== 'next') return 'fixed before'
  return fix.after === null ? 'fixed in the next release' : `fixed in the release after ${fix.after}`
}

export const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** Whether two ways of being fixed are the same one. */
export const isSameFix = (a: Fix, b: Fix): boolean => JSON.stringify(a) === JSON.stringify(b)
