import { Icon } from './icon.tsx'
import { uiTexts } from './texts.ts'
import styles from './avatar.module.css'

/** `Ines Köhler` → `IK`; an e-mail address gives its first letter. */
export function toInitials(name: string): string {
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
  /** A team, whose place is square. */
  team?: boolean
  /** Hidden from screen readers beside the name. */
  quiet?: boolean
}

export function Avatar({ user, small = false, team = false, quiet = false }: AvatarProps) {
  const name = user?.name ?? uiTexts.unassigned
  const spoken = quiet
    ? ({ 'aria-hidden': true } as const)
    : ({ role: 'img', 'aria-label': name, title: name } as const)
  if (user === null) {
    return (
      <span className={styles.avatar} data-tint="none" data-small={small ? '' : undefined} {...spoken}>
        <Icon name="user" />
      </span>
    )
  }
  return (
    <span
      className={styles.avatar}
      data-tint={tintOf(user.id)}
      data-small={small ? '' : undefined}
      data-team={team ? '' : undefined}
      {...spoken}
    >
      {toInitials(user.name)}
    </span>
  )
}
