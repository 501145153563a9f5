/** A release name parsed as a version. Names without an order, such as hashes, are no versions. */
export type Version = {
  /** `com.acme.shop` of `com.acme.shop@3.1.0+77`; null without one. */
  readonly package: string | null
  /** `3.1.0`: any count of numbers, most significant first. */
  readonly numbers: readonly bigint[]
  /** `beta.2` and `beta2` split into `beta` and `2`; null for a final version. */
  readonly prerelease: readonly string[] | null
  /** The 1 of `2.0.0.post1` (Python) and the 14 of `2.0.0-14-g2414721` (Git): after the version, before the next one. */
  readonly post: bigint | null
  /** The part after `+`, the 122 of `1.4.0 (122)`: a build number on mobile. */
  readonly build: string | null
  /**
   * The text around the numbers: `web-` of `web-1.9.0`. Only versions with the same one have an order; null for a plain
   * version.
   */
  readonly decoration: string | null
}

const MAX_CHARACTERS = 250
/** `[package@][v]1.2.3[-beta.2][+77]`. Dates such as 2024-11-03 have their own form because of their hyphens. */
const FORM = /^(?:(.+)@)?v?(\d{1,40}(?:\.\d{1,40}){0,9})(?:-([0-9a-z.-]+))?(?:\+([0-9a-z.-]+))?$/i
/** Python's spellings (PEP 440): `2.0.0rc1`, `2.0.0.post1`, `2.1.0.dev3`. */
const PYTHON =
  /^((?:.+@)?v?\d{1,40}(?:\.\d{1,40}){1,9})[._-]?(post|dev|alpha|beta|pre|rc|[abc])[._-]?(\d{1,40})(?:\+([0-9a-z.-]+))?$/i
/** A hyphen after a number marks a semantic version, except before `post1`. */
const SEMANTIC = /^[^+]*\d-(?!post)/i
const DATE =
  /^(?:(.+)@)?v?(\d{4})-(\d{2})-(\d{2})(?:[.-](\d{1,40}))?(?:-(?=\d*[a-z])([0-9a-z.-]+))?(?:\+([0-9a-z.-]+))?$/i
/** The suffix that `git describe` adds to the newest tag: the number of commits since, and the newest commit. */
const DESCRIBED = /^(.+)-(\d{1,9})-g([0-9a-f]{7,40})(?:-dirty)?$/
/** A build number behind the version: `1.2.0_44`, `1.4.0 (122)`, `1.4.0 build 122`. */
const BUILT = /^(v?\d{1,40}(?:\.\d{1,40}){1,9})(?:[ _]|(?=\())\(?(?:build[ ._-]?|b)?(\d{1,40})\)?$/i
/** Digits of a version that is one number: long enough for a time (20241103153000123), shorter than a commit hash. */
const MAX_DIGITS_ALONE = 17

/**
 * Parses `1.0`, `v2`, `2024.11.3-beta.2+77`, `2024-11-03`, `4711`, `com.acme.shop@3.1.0+77`,
 * `2.0.0.post1`, `1.4.0 (122)`, and the version inside `web-1.9.0` or `main-20261105-3f2a9c1`.
 * @returns null for a name without an order
 */
export function parseVersion(text: string): Version | null {
  if (text.length > MAX_CHARACTERS) return null
  // A name with a package has its version behind the `@`, or none.
  return parsePlain(text) ?? (text.includes('@') ? null : parseDecorated(text))
}

function parsePlain(text: string): Version | null {
  const described = DESCRIBED.exec(text)
  if (described !== null) {
    const [, tag = '', commits = '0', commit = ''] = described
    const version = parsePlain(tag)
    return version === null ? null : { ...version, post: BigInt(commits), build: commit }
  }
  const built = BUILT.exec(text)
  if (built !== null) {
    const version = parsePlain(built[1] ?? '')
    return version === null ? null : { ...version, build: built[2] ?? null }
  }
  const date = DATE.exec(text)
  if (date !== null) {
    const [, name, year = '0', month = '0', day = '0', serial, prerelease, build] = date
    const numbers = [year, month, day, ...(serial === undefined ? [] : [serial])].map(BigInt)
    return {
      package: name ?? null,
      numbers,
      prerelease: partsOf(prerelease),
      post: null,
      build: build ?? null,
      decoration: null,
    }
  }
  const python = SEMANTIC.test(text) ? null : PYTHON.exec(text)
  if (python !== null) {
    const [, core = '', word = '', number = '0', build = null] = python
    const version = parsePlain(core)
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
    decoration: null,
  }
}

/** The version inside a name: numbers with dots, else a date, else a number that is a word, else one that ends a word. */
const INSIDE = [
  /(?<![\d.])\d{1,40}(?:\.\d{1,40}){1,9}(?![0-9a-z])/i,
  /(?<!\d)\d{4}([-_/])\d{2}\1\d{2}(?!\d)/,
  /(?<=^|[^0-9a-z])\d{1,17}(?=$|[^0-9a-z]|T\d)/i,
  // Not `f1234567`: letters that are hexadecimal digits may be the beginning of a hash.
  /(?<=[g-z][a-z]*)\d{1,17}(?=$|[^0-9a-z])/i,
] as const
/** A hash of a commit: hexadecimal, with a letter and a digit. */
const HASH = /^(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}$/i
/** A part of the text behind the version: a hash, a number, or anything else. */
const TAIL_PART = /[0-9a-z]+/gi

/**
 * Reads the version inside a decorated name. The text before it is its decoration, and so is the text behind it where it
 * is no pre-release or build: both must be the same in two names that are compared, except for numbers and hashes.
 */
function parseDecorated(text: string): Version | null {
  const found = INSIDE.map((form) => form.exec(text)).find((match) => match !== null)
  if (found === undefined || found === null) return null
  const [core] = found
  // `release-v1.3.0` and `release-1.3.0` are one scheme.
  const before = text.slice(0, found.index).replace(/(^|[^0-9a-z])v$/i, '$1')
  const whole = parsePlain(text.slice(found.index))
  if (whole !== null) return { ...whole, decoration: before === '' ? null : before }
  const version = parsePlain(core.replaceAll(/[_/]/g, '-'))
  if (version === null) return null
  const tail = text.slice(found.index + core.length)
  const numbers: string[] = []
  let isOrdered = true
  const shape = tail.replaceAll(TAIL_PART, (part) => {
    if (HASH.test(part)) {
      isOrdered = false
      return '<hash>'
    }
    return part.replaceAll(/\d+/g, (number) => {
      numbers.push(number)
      return '<number>'
    })
  })
  return {
    ...version,
    build: numbers.length === 0 && isOrdered ? null : isOrdered ? numbers.join('.') : tail,
    decoration: `${before}<version>${shape}`,
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

/** A word keeps no number: `rc10` comes after `rc9`, and `build-10` after `build-9`. */
const partsOf = (prerelease: string | undefined): readonly string[] | null =>
  prerelease?.split(/[.-]/).flatMap((part) => /^([a-z]+)(\d{1,40})$/i.exec(part)?.slice(1) ?? [part]) ?? null

/**
 * Semantic Versioning 2.0 §11 with any count of numbers, but `rc9` before `rc10`, and then by build number: mobile apps
 * have many builds of one version.
 * @returns below 0 when `a` is older; null when they cannot be compared: different packages or decorations, or hashes and
 *   builds without order
 */
export function compareVersions(a: Version, b: Version): number | null {
  if (a.package !== b.package || a.decoration !== b.decoration) return null
  const byNumbers = compareNumbers(a.numbers, b.numbers)
  if (byNumbers !== 0) return byNumbers
  const byPrerelease = comparePrereleases(a.prerelease, b.prerelease)
  if (byPrerelease !== 0) return byPrerelease
  const [post, otherPost] = [a.post ?? -1n, b.post ?? -1n]
  if (post !== otherPost) return post < otherPost ? -1 : 1
  if (a.build === b.build) return 0
  // A name without a build means all builds of its version.
  if (a.build === null || b.build === null) return 0
  if (!BUILD_NUMBERS.test(a.build) || !BUILD_NUMBERS.test(b.build)) return null
  return compareNumbers(a.build.split('.').map(BigInt), b.build.split('.').map(BigInt))
}

const BUILD_NUMBERS = /^\d{1,40}(?:\.\d{1,40}){0,9}$/

function compareNumbers(a: readonly bigint[], b: readonly bigint[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const one = a[at] ?? 0n
    const other = b[at] ?? 0n
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

/** A hash, or digits that may be one beside another hash. */
const mayBeHash = (part: string): boolean => HASH.test(part) || /^\d{7,40}$/.test(part)

/** Null where two hashes would decide. */
function comparePrereleases(a: readonly string[] | null, b: readonly string[] | null): number | null {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const one = a[at]
    const other = b[at]
    if (one === other) continue
    if (one === undefined) return -1
    if (other === undefined) return 1
    if ((HASH.test(one) && mayBeHash(other)) || (HASH.test(other) && mayBeHash(one))) return null
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
