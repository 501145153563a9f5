/** Maximum length of a release name, in code points. */
export const MAX_RELEASE_CHARACTERS = 200

/** Tabs, line breaks and other control characters, slashes. SDKs refuse them too. */
export const FORBIDDEN_IN_RELEASE = /[\p{Cc}\p{Zl}\p{Zp}/\\]/u

const RESERVED_RELEASES: readonly string[] = ['.', '..', 'latest']

/** Whether a release may have this name: 1 to 200 code points, no forbidden character, no reserved word. */
export const isReleaseName = (name: string): boolean =>
  name !== '' &&
  name.length <= 2 * MAX_RELEASE_CHARACTERS &&
  Array.from(name).length <= MAX_RELEASE_CHARACTERS &&
  name.isWellFormed() &&
  !FORBIDDEN_IN_RELEASE.test(name) &&
  !RESERVED_RELEASES.includes(name.toLowerCase())
