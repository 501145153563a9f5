import { Icon, type IconName } from './icon.tsx'
import { own } from './own.ts'
import { uiTexts } from './texts.ts'

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
  csharp: ['C#', 'C#'],
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
export const platformWord = (platform: string): string => own(TILES, platform)?.[1] ?? platform

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
      <span className="plat plat-all" aria-hidden="true">
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
    <span className="plat" {...spoken}>
      {letters}
    </span>
  )
}

/** `Ines Köhler` → `IK`; an e-mail address gives its first letter. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u)
  const last = words.length > 1 ? firstLetter(words.at(-1) ?? '') : ''
  return ((firstLetter(words[0] ?? '') || '?') + last).toUpperCase()
}

const firstLetter = (word: string): string =>
  String.fromCodePoint(...[word.codePointAt(0)].filter((code) => code !== undefined))

/** One of five tints, always the same for one user. */
function tintOf(id: string): number {
  let sum = 0
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973
  return (sum % 5) + 1
}

type AvatarProps = {
  user: { id: string; name: string } | null
  small?: boolean
  /** Hidden from screen readers beside the name. */
  quiet?: boolean
}

export function Avatar({ user, small = false, quiet = false }: AvatarProps) {
  const size = small ? ' av-sm' : ''
  const name = user?.name ?? uiTexts.unassigned
  const spoken = quiet
    ? ({ 'aria-hidden': true } as const)
    : ({ role: 'img', 'aria-label': name, title: name } as const)
  if (user === null) {
    return (
      <span className={`av av-0${size}`} {...spoken}>
        <Icon name="user" />
      </span>
    )
  }
  return (
    <span className={`av av-${tintOf(user.id)}${size}`} {...spoken}>
      {initialsOf(user.name)}
    </span>
  )
}

export type StatusName = 'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'
export const STATUS_WORDS: Readonly<Record<StatusName, string>> = {
  unresolved: 'Unresolved',
  resolved: 'Resolved',
  ignored: 'Ignored',
  regressed: 'Regressed',
  escalated: 'Escalated',
}

/** Colour classes for a status icon without its name. */
export const STATUS_COLOURS: Readonly<Record<StatusName, string>> = {
  unresolved: 'c-blue',
  resolved: 'c-green',
  ignored: 'c-slate',
  regressed: 'c-violet',
  escalated: 'c-vermilion',
}

/** A status: icon, name and colour. */
export function Status({ status }: { status: StatusName }) {
  return (
    <span className={`st st-${status}`}>
      <Icon name={`st-${status}`} />
      <span>{STATUS_WORDS[status]}</span>
    </span>
  )
}

export type SeverityName = 'critical' | 'high' | 'medium' | 'low'
export const SEVERITY_WORDS: Readonly<Record<SeverityName, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
}

/** A severity: bars and colour; its name is visible or only for screen readers. */
export function Severity({ severity, word = true }: { severity: SeverityName; word?: boolean }) {
  return (
    <span className={`sev sev-${severity}`}>
      {word ? (
        <>
          <Icon name={`sv-${severity}`} />
          <span>{SEVERITY_WORDS[severity]}</span>
        </>
      ) : (
        <Icon name={`sv-${severity}`} label={uiTexts.severity(SEVERITY_WORDS[severity])} />
      )}
    </span>
  )
}

export type FlagColour = 'violet' | 'vermilion' | 'blue' | 'amber' | 'red' | 'green' | 'plain'

/** A short note in a row: new, regressed in a release. */
export function Flag({ colour, icon, children }: { colour: FlagColour; icon?: IconName; children: string }) {
  return (
    <span className={`flag flag-${colour}`}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </span>
  )
}
