/**
 * Platforms: of projects, and of events as SDKs name them. Each has one name and one tile, wherever it is read.
 */

export const PROJECT_PLATFORMS = [
  'react-native',
  'flutter',
  'ios',
  'android',
  'web',
] as const satisfies readonly KnownPlatform[]
export type ProjectPlatform = (typeof PROJECT_PLATFORMS)[number]

/** Names, and the letters of tiles. Those of projects come first, then those that SDKs report. */
const PLATFORMS = {
  'react-native': { name: 'React Native', letters: 'RN' },
  flutter: { name: 'Flutter', letters: 'FL' },
  ios: { name: 'iOS', letters: 'iOS' },
  android: { name: 'Android', letters: 'AND' },
  web: { name: 'Web', letters: 'WEB' },
  javascript: { name: 'JavaScript', letters: 'JS' },
  node: { name: 'Node.js', letters: 'NODE' },
  cocoa: { name: 'Cocoa', letters: 'COC' },
  swift: { name: 'Swift', letters: 'SW' },
  objc: { name: 'Objective-C', letters: 'OBJC' },
  java: { name: 'Java', letters: 'JAVA' },
  kotlin: { name: 'Kotlin', letters: 'KT' },
  dart: { name: 'Dart', letters: 'DART' },
  native: { name: 'Native', letters: 'NAT' },
  c: { name: 'C', letters: 'C' },
  python: { name: 'Python', letters: 'PY' },
  go: { name: 'Go', letters: 'GO' },
  ruby: { name: 'Ruby', letters: 'RB' },
  php: { name: 'PHP', letters: 'PHP' },
  csharp: { name: '.NET', letters: 'NET' },
  rust: { name: 'Rust', letters: 'RS' },
  elixir: { name: 'Elixir', letters: 'EX' },
  perl: { name: 'Perl', letters: 'PL' },
  groovy: { name: 'Groovy', letters: 'GVY' },
  scala: { name: 'Scala', letters: 'SC' },
  clojure: { name: 'Clojure', letters: 'CLJ' },
  haxe: { name: 'Haxe', letters: 'HX' },
  powershell: { name: 'PowerShell', letters: 'PS' },
  other: { name: 'Other', letters: 'ANY' },
} as const satisfies Readonly<Record<string, { name: string; letters: string }>>

export type KnownPlatform = keyof typeof PLATFORMS

const KNOWN: ReadonlyMap<string, { readonly name: string; readonly letters: string }> = new Map(
  Object.entries(PLATFORMS),
)

export const KNOWN_PLATFORMS: readonly string[] = [...KNOWN.keys()]

/** `react-native` → `React Native`; other platforms keep their own name. */
export const platformName = (platform: string): string => KNOWN.get(platform)?.name ?? platform

/** `android` → `AND`. */
export const platformLetters = (platform: string): string =>
  KNOWN.get(platform)?.letters ?? platform.slice(0, 3).toUpperCase()

/** What SDKs report for the usual events of an app, by the platform of its project. */
const USUAL: Readonly<Record<ProjectPlatform, readonly KnownPlatform[]>> = {
  'react-native': ['javascript'],
  flutter: ['dart', 'other'],
  ios: ['cocoa', 'swift', 'objc'],
  android: ['java', 'kotlin'],
  web: ['javascript'],
}

const isUsual = (project: string, event: string): boolean =>
  PROJECT_PLATFORMS.some((one) => one === project && USUAL[one].some((usual) => usual === event))

/**
 * The platform that stands for an issue: its project's platform where its events are the usual ones there, such as
 * Java in an Android app; else the one that the SDK reports, such as native crashes or a server in a project for the web.
 */
export const issuePlatform = (project: string, event: string): string => (isUsual(project, event) ? project : event)

/** The same for the issues of several projects: the one platform that those with such events have, else the SDK's. */
export function sharedPlatform(projects: Iterable<string>, event: string): string {
  const [first, ...others] = new Set([...projects].filter((project) => isUsual(project, event)))
  return first === undefined || others.length > 0 ? event : first
}
