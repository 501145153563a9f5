import { compareReleases, type ReleaseFacts } from '../releases/order.ts'
import { parseVersion, type Version } from '../releases/version.ts'

/** What fixes a resolved issue, and whether an event comes from a release that should have the fix. Pure. */

export type Fix =
  /** Fixed everywhere from that moment on. */
  | { readonly kind: 'now' }
  /** Fixed in these releases: one, or one for each branch it was brought to. */
  | { readonly kind: 'release'; readonly versions: readonly string[] }
  /** Fixed in whatever comes after the newest release known then; null where none was known. */
  | { readonly kind: 'next'; readonly after: string | null }
  /** Fixed by a commit that no release is known to have yet. */
  | { readonly kind: 'commit'; readonly sha: string }

/** Facts of releases by version, as far as they are known. */
export type ReleaseBook = ReadonlyMap<string, ReleaseFacts>

const factsOf = (version: string, book: ReleaseBook): ReleaseFacts =>
  book.get(version) ?? { version, releasedAt: null, firstSeenAt: null }

/**
 * Whether a release that is met now should have the fix: it is not older than the fix by version, then by release date,
 * then by who was seen first. An event without release counts only against a plain resolve (product.md §4).
 * @param resolvedAt when the issue was resolved
 */
export function hasFix(fix: Fix, resolvedAt: Date, release: string | null, book: ReleaseBook): boolean {
  if (fix.kind === 'now') return true
  if (release === null || fix.kind === 'commit') return false
  const met = factsOf(release, book)
  if (fix.kind === 'release') return isInFixes(met, fix.versions, book)
  // Resolved for every release seen so far, in whatever order they stand.
  if (met.firstSeenAt !== null && met.firstSeenAt.getTime() <= resolvedAt.getTime()) return false
  return fix.after === null || (release !== fix.after && order(met, factsOf(fix.after, book)) > 0)
}

/**
 * With several fixes each speaks for its own branch (major.minor). A branch without one, between two that have one, is
 * judged by time: cut after the fix below it, it has it too. What is newer than every fix has it, what is older has not.
 */
function isInFixes(met: ReleaseFacts, versions: readonly string[], book: ReleaseBook): boolean {
  if (versions.includes(met.version)) return true
  const fixes = versions.map((version) => factsOf(version, book))
  const ofBranch = fixes.filter((fix) => isSameBranch(met.version, fix.version))
  if (ofBranch.length > 0) return ofBranch.some((fix) => order(met, fix) >= 0)
  const older = fixes.filter((fix) => order(met, fix) >= 0)
  if (older.length === 0) return false
  if (older.length === fixes.length) return true
  const below = older.reduce((highest, fix) => (order(fix, highest) > 0 ? fix : highest))
  return isYounger(met, below)
}

/** By version, then dates. A fix named without a package (`2.3.1`) speaks of the app's own (`com.acme@2.3.1`). */
function order(a: ReleaseFacts, b: ReleaseFacts): number {
  const [one, other] = [parseVersion(a.version), parseVersion(b.version)]
  if (one === null || other === null || (one.package === null) === (other.package === null))
    return compareReleases(a, b)
  return compareReleases({ ...a, version: bare(a.version) }, { ...b, version: bare(b.version) })
}

const bare = (version: string): string => version.slice(version.lastIndexOf('@') + 1)

function isSameBranch(a: string, b: string): boolean {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  if (one === null || other === null) return false
  if (one.package !== null && other.package !== null && one.package !== other.package) return false
  return branchOf(one) === branchOf(other)
}

const branchOf = ({ numbers }: Version): string => `${numbers[0] ?? 0n}.${numbers[1] ?? 0n}`

/** By release date where both have one, else by who was seen first; unknown is no. */
function isYounger(a: ReleaseFacts, b: ReleaseFacts): boolean {
  if (a.releasedAt !== null && b.releasedAt !== null) return a.releasedAt.getTime() > b.releasedAt.getTime()
  if (a.firstSeenAt !== null && b.firstSeenAt !== null) return a.firstSeenAt.getTime() > b.firstSeenAt.getTime()
  return false
}

/** Versions of which {@link hasFix} wants to know the facts. */
export function versionsIn(fix: Fix): readonly string[] {
  if (fix.kind === 'release') return fix.versions
  return fix.kind === 'next' && fix.after !== null ? [fix.after] : []
}

/** `in release 2.3.1 and 3.0.2`, for sentences; empty for a plain resolve. */
export function fixWords(fix: Fix): string {
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
export function fixedWords(fix: Fix): string {
  if (fix.kind === 'release') return `fixed in ${listed(fix.versions)}`
  return fix.kind === 'next' && fix.after !== null ? `fixed in the release after ${fix.after}` : 'fixed before'
}

export const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** Whether two ways of being fixed are the same one. */
export const isSameFix = (a: Fix, b: Fix): boolean => JSON.stringify(a) === JSON.stringify(b)
