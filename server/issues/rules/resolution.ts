import { byDate, compareTimes, type ReleaseFacts } from '../../projects/releases/order.ts'
import { compareVersions, parseVersion, type Version } from '../../projects/releases/version.ts'
import { listed } from '../../platform/kernel/value-text.ts'

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

/** Whether a release has the fix; `unknown` where nothing orders the two. */
export type FixState = 'has' | 'lacks' | 'unknown'

/**
 * Whether a release should contain the fix. If it is unclear, returns false: a false regression costs more than a late
 * one.
 * @param resolvedAt when the issue was resolved
 */
export const hasFix = (fix: Fix, resolvedAt: Date, release: string | null, releases: ReleasesByVersion): boolean =>
  fixState(fix, resolvedAt, release, releases) === 'has'

/**
 * Compares a release with the fix: it has the fix unless it is older by version, then by time (docs/issues.md). Without a
 * release, only a resolution without a release counts.
 */
export function fixState(fix: Fix, resolvedAt: Date, release: string | null, releases: ReleasesByVersion): FixState {
  if (fix.kind === 'now') return 'has'
  if (release === null) return 'lacks'
  // It is unknown which release will contain the commit.
  if (fix.kind === 'commit') return 'unknown'
  const candidate = factsOf(release, releases)
  return fix.kind === 'release'
    ? inFixes(candidate, fix.versions, resolvedAt, releases)
    : asNext(candidate, versionsIn(fix), resolvedAt, releases)
}

/** Has the fix if it is the next release: not known at the resolution, and newer than all that were. */
function asNext(
  candidate: ReleaseFacts,
  known: readonly string[],
  resolvedAt: Date,
  releases: ReleasesByVersion,
): FixState {
  if (known.includes(candidate.version)) return 'lacks'
  if (candidate.firstSeenAt !== null && candidate.firstSeenAt.getTime() <= resolvedAt.getTime()) return 'lacks'
  return ofAll(
    known.map((version) => {
      const order =
        orderOf(candidate.version, version) ?? byDate(candidate.releasedAt, factsOf(version, releases).releasedAt)
      // It was seen later than the known ones, but release dates decide first.
      return order === null ? (candidate.firstSeenAt === null ? 'unknown' : 'has') : stateOf(order > 0)
    }),
  )
}

/**
 * Each of several fixes decides for its branch (major.minor). A release newer than every fix contains it, an older one
 * does not. A branch without a fix, between two with one, contains it unless it was released before the lower fix. Fixes
 * of the same package decide first; other packages can be compared by time only.
 */
function inFixes(
  candidate: ReleaseFacts,
  versions: readonly string[],
  resolvedAt: Date,
  releases: ReleasesByVersion,
): FixState {
  if (versions.includes(candidate.version)) return 'has'
  const all = versions.map((version) => factsOf(version, releases))
  const fixes = all.filter((fix) => isSamePackage(candidate.version, fix.version))
  if (fixes.length === 0) return ofAll(all.map((fix) => byTime(candidate, fix)))
  const ofBranch = fixes.filter((fix) => isSameBranch(candidate.version, fix.version))
  if (ofBranch.length > 0) return ofAny(ofBranch.map((fix) => byVersionOrTime(candidate, fix)))
  const older = fixes.filter((fix) => byVersionOrTime(candidate, fix) === 'has')
  if (older.length === 0) return 'lacks'
  if (older.length === fixes.length) return 'has'
  const below = older.reduce((highest, fix) => ((orderOf(fix.version, highest.version) ?? 0) > 0 ? fix : highest))
  return stateOf(!wasReleasedBefore(candidate, below, resolvedAt))
}

const stateOf = (has: boolean): FixState => (has ? 'has' : 'lacks')

const ofAll = (states: readonly FixState[]): FixState =>
  states.includes('lacks') ? 'lacks' : states.includes('unknown') ? 'unknown' : 'has'

const ofAny = (states: readonly FixState[]): FixState =>
  states.includes('has') ? 'has' : states.includes('unknown') ? 'unknown' : 'lacks'

/** A fix without events counts as released on its release date, or else when the issue was resolved. */
function wasReleasedBefore(candidate: ReleaseFacts, fix: ReleaseFacts, resolvedAt: Date): boolean {
  const order = byDate(candidate.releasedAt, fix.releasedAt)
  if (order !== null) return order < 0
  if (candidate.firstSeenAt === null) return false
  if (fix.firstSeenAt !== null) return candidate.firstSeenAt < fix.firstSeenAt
  return candidate.firstSeenAt <= (fix.releasedAt ?? resolvedAt)
}

/** By version, or by time if versions have no order (builds). Equal versions are not older, whenever they were seen. */
function byVersionOrTime(candidate: ReleaseFacts, fix: ReleaseFacts): FixState {
  const order = orderOf(candidate.version, fix.version)
  return order === null ? byTime(candidate, fix) : stateOf(order >= 0)
}

function byTime(candidate: ReleaseFacts, fix: ReleaseFacts): FixState {
  const order = compareTimes(candidate, fix)
  return order === null ? 'unknown' : stateOf(order > 0)
}

/**
 * Compares versions; without a package, `2.3.1` equals `com.acme@2.3.1`, while `web-2.3.1` has no order with either. Returns
 * null if they have no order.
 */
function orderOf(a: string, b: string): number | null {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  return one === null || other === null ? null : orderOfVersions(one, other)
}

const orderOfVersions = (a: Version, b: Version): number | null =>
  isOfSamePackage(a, b) ? compareVersions({ ...a, package: null }, { ...b, package: null }) : null

const isOfSamePackage = (a: Version, b: Version): boolean =>
  a.decoration === b.decoration && (a.package === null || b.package === null || a.package === b.package)

function isSamePackage(a: string, b: string): boolean {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  return one !== null && other !== null && isOfSamePackage(one, other)
}

function isSameBranch(a: string, b: string): boolean {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  return one !== null && other !== null && branchOf(one) === branchOf(other)
}

const branchOf = ({ numbers }: Version): string => `${numbers[0] ?? 0n}.${numbers[1] ?? 0n}`

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
    const key = version === null ? 'no version' : packageKey(version)
    const best = newest.get(key)
    if (best === undefined || isHigher({ name, version }, best)) newest.set(key, { name, version })
    if (version === null && firstSeenAt === null) unseen.push(name)
  }
  // A version without a package is compared with each package; two packages cannot be compared.
  const bare = newest.get(packageKey({ package: null, decoration: null }))
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

const packageKey = ({ package: name, decoration }: Pick<Version, 'package' | 'decoration'>): string =>
  decoration === null ? `package ${name ?? ''}` : `decoration ${decoration}`

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
