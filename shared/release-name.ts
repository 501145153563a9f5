/** Maximum length of a release name, in code points. */
export const MAX_RELEASE_CHARACTERS = 200

/** Maximum length of the name of an environment, in UTF-16 units. */
export const MAX_ENVIRONMENT_CHARACTERS = 64

/** Tabs, line breaks and other control characters. Every other character may be in the name of a release or environment. */
export const CONTROL_CHARACTER = /[\p{Cc}\p{Zl}\p{Zp}]/u

const RESERVED_RELEASES: readonly string[] = ['.', '..', 'latest']

/** Whether a release may not have this name, which is a step of a path or means another release each day. */
export const isReservedRelease = (name: string): boolean => RESERVED_RELEASES.includes(name.toLowerCase())

/** Whether a release may have this name: 1 to 200 code points, no control character, no reserved word. */
export const isReleaseName = (name: string): boolean =>
  name !== '' &&
  name.length <= 2 * MAX_RELEASE_CHARACTERS &&
  Array.from(name).length <= MAX_RELEASE_CHARACTERS &&
  name.isWellFormed() &&
  !CONTROL_CHARACTER.test(name) &&
  !isReservedRelease(name)

/** Whether an environment may have this name: 1 to 64 characters, no control character, not Python's `None`. */
export const isEnvironmentName = (name: string): boolean =>
  name !== '' &&
  name.length <= MAX_ENVIRONMENT_CHARACTERS &&
  name.isWellFormed() &&
  !CONTROL_CHARACTER.test(name) &&
  name !== 'None'
