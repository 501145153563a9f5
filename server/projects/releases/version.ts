/** A release name parsed as a version. Names without an order, such as hashes, are no versions. */
export type Version = {
  /** `com.acme.shop` of `com.acme.shop@3.1.0+77`; null without one. */
  readonly package: string | null
  /** `3.1.0`: any count of numbers, most significant first. */
  readonly numbers: readonly bigint[]
  /** `beta.2` and `beta2` split into `beta` and `2`; null for a final version. */
  readonly prerelease: readonly string[] | null
  /** The 1 of `2.0.0.post1` (Python): released after the version, before the next one. */
  readonly post: bigint | null
  /** The part after `+`: a build number on mobile. */
  readonly build: string | null
}

const MAX_CHARACTERS = 250
/** `[package@][v]1.2.3[-beta.2][+77]`. Dates such as 2024-11-03 have their own form because of their hyphens. */
const FORM = /^(?:(.+)@)?v?(\d{1,40}(?:\.\d{1,40}){0,9})(?:-([0-9a-z.-]+))?(?:\+([0-9a-z.-]+))?$/i
/** Python's spellings (PEP 440): `2.0.0rc1`, `2.0.0.post1`, `2.1.0.dev3`. */
const PYTHON =
  /^((?:.+@)?v?\d{1,40}(?:\.\d{1,40}){1,9})[._-]?(post|dev|alpha|beta|pre|rc|[abc])[._-]?(\d{1,40})(?:\+([0-9a-z.-]+))?$/i
/** A hyphen after a number marks a semantic version, except before `post1`. */
const SEMANTIC = /^[^+]*\d-(?!post)/i
const DATE = /^(?:(.+)@)?v?(\d{4})-(\d{2})-(\d{2})(?:[.-](\d{1,40}))?(?:-([a-z][0-9a-z.-]*))?(?:\+([0-9a-z.-]+))?$/i
/** Digits of a version that is one number: long enough for a time (20241103153000123), shorter than a commit hash. */
const MAX_DIGITS_ALONE = 17

/**
 * Parses `1.0`, `v2`, `2024.11.3-beta.2+77`, `2024-11-03`, `4711`, `com.acme.shop@3.1.0+77`,
 * `2.0.0.post1`.
 * @returns null for a name without an order
 */
export function parseVersion(text: string): Version | null {
  if (text.length > MAX_CHARACTERS) return null
  const date = DATE.exec(text)
  if (date !== null) {
    const [, name, year = '0', month = '0', day = '0', serial, prerelease, build] = date
    const numbers = [year, month, day, ...(serial === undefined ? [] : [serial])].map(BigInt)
    return { package: name ?? null, numbers, prerelease: partsOf(prerelease), post: null, build: build ?? null }
  }
  const python = SEMANTIC.test(text) ? null : PYTHON.exec(text)
  if (python !== null) {
    const [, core = '', word = '', number = '0', build = null] = python
    const version = parseVersion(core)
    if (version === null) return null
    if (word.toLowerCase() === 'post') return { ...version, post: BigInt(number), build }
    // Development versions come before alpha.
    return { ...version, prerelease: [...(word.toLowerCase() === 'dev' ? ['0'] : []), word, number], build }
  }
  const match = FORM.exec(text)
  if (match === null) return null
  const [, name, core = '', prerelease, build] = match
  const parts = core.split('.')
  if (parts.length === 1 && core.length > MAX_DIGITS_ALONE) return null
  return {
    package: name ?? null,
    numbers: parts.map(BigInt),
    prerelease: partsOf(prerelease),
    post: null,
    build: build ?? null,
  }
}

/**
 * Whether two releases may be of one app. Projects may hold several apps, which the part before the `@` names; a release
 * without that part may be of any.
 */
export function isSameApp(a: string, b: string): boolean {
  const [one, other] = [appOf(a), appOf(b)]
  return one === null || other === null || one === other
}

const appOf = (version: string): string | null => {
  const at = version.lastIndexOf('@')
  return at <= 0 ? null : version.slice(0, at)
}

/** A word keeps no number: `rc10` comes after `rc9`. */
const partsOf = (prerelease: string | undefined): readonly string[] | null =>
  prerelease?.split('.').flatMap((part) => /^([a-z]+)(\d{1,40})$/i.exec(part)?.slice(1) ?? [part]) ?? null

/**
 * Semantic Versioning 2.0 §11 with any count of numbers, but `rc9` before `rc10`, and then by build number: mobile apps
 * have many builds of one version.
 * @returns below 0 when `a` is older; null when they cannot be compared: different packages, or builds without order
 */
export function compareVersions(a: Version, b: Version): number | null {
  if (a.package !== b.package) return null
  for (let at = 0; at < Math.max(a.numbers.length, b.numbers.length); at++) {
    const one = a.numbers[at] ?? 0n
    const other = b.numbers[at] ?? 0n
    if (one !== other) return one < other ? -1 : 1
  }
  const byPrerelease = comparePrereleases(a.prerelease, b.prerelease)
  if (byPrerelease !== 0) return byPrerelease
  const [post, otherPost] = [a.post ?? -1n, b.post ?? -1n]
  if (post !== otherPost) return post < otherPost ? -1 : 1
  if (a.build === b.build) return 0
  // A name without a build means all builds of its version.
  if (a.build === null || b.build === null) return 0
  if (/^\d{1,40}$/.test(a.build) && /^\d{1,40}$/.test(b.build)) {
    const one = BigInt(a.build)
    const other = BigInt(b.build)
    return one === other ? 0 : one < other ? -1 : 1
  }
  return null
}

function comparePrereleases(a: readonly string[] | null, b: readonly string[] | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const one = a[at]
    const other = b[at]
    if (one === other) continue
    if (one === undefined) return -1
    if (other === undefined) return 1
    const areNumbers = [/^\d{1,40}$/.test(one), /^\d{1,40}$/.test(other)] as const
    if (areNumbers[0] && areNumbers[1]) {
      if (BigInt(one) === BigInt(other)) continue
      return BigInt(one) < BigInt(other) ? -1 : 1
    }
    // Numbers come before words.
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1
    return one < other ? -1 : 1
  }
  return 0
}
