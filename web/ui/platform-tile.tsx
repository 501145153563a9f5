import { own } from './own.ts'
import styles from './platform-tile.module.css'

/** Letter tiles of platforms: those of projects, and those that SDKs report for events. */
const TILES: Readonly<Record<string, readonly [letters: string, word: string]>> = {
  android: ['AND', 'Android'],
  ios: ['iOS', 'iOS'],
  'react-native': ['RN', 'React Native'],
  flutter: ['FL', 'Flutter'],
  web: ['WEB', 'Web'],
  javascript: ['JS', 'JavaScript'],
  node: ['NODE', 'Node.js'],
  cocoa: ['iOS', 'Cocoa'],
  java: ['JVM', 'Java'],
  kotlin: ['KT', 'Kotlin'],
  native: ['NAT', 'Native'],
  dart: ['FL', 'Dart'],
  python: ['PY', 'Python'],
  go: ['GO', 'Go'],
  ruby: ['RB', 'Ruby'],
  php: ['PHP', 'PHP'],
  csharp: ['NET', '.NET'],
  rust: ['RS', 'Rust'],
  elixir: ['EX', 'Elixir'],
  perl: ['PL', 'Perl'],
  swift: ['SW', 'Swift'],
  other: ['ANY', 'Other'],
}

/** The usual event platform of each project platform. An event of another platform, such as a native crash, keeps it. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  android: ['java', 'kotlin'],
  ios: ['cocoa', 'swift'],
  'react-native': ['javascript'],
  flutter: ['dart', 'other'],
  web: ['javascript'],
}

/** `react-native` → `React Native`; unknown names are unchanged. */
export const platformName = (platform: string): string => own(TILES, platform)?.[1] ?? platform

type PlatformTileProps = {
  /** The platform of a project or of an event. */
  platform: string
  /** The platform of the event's project, once it is known. */
  kind?: string | undefined
  quiet?: boolean
}

export function PlatformTile({ platform, kind = '', quiet = false }: PlatformTileProps) {
  if (platform === 'all') {
    return (
      <span className={styles.tile} data-all="" aria-hidden="true">
        ALL
      </span>
    )
  }
  const shown = own(USUAL, kind)?.includes(platform) === true ? kind : platform
  const [letters, word] = own(TILES, shown) ?? [shown.slice(0, 3).toUpperCase(), shown]
  // Hidden from screen readers beside its name.
  const spoken = quiet
    ? ({ 'aria-hidden': true } as const)
    : ({ role: 'img', 'aria-label': word, title: word } as const)
  return (
    <span className={styles.tile} {...spoken}>
      {letters}
    </span>
  )
}
