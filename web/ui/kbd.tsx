import type { ReactNode } from 'react'
import styles from './kbd.module.css'

const SIGNS: Readonly<Record<string, string>> = {
  enter: '↵',
  escape: 'Esc',
  arrowup: '↑',
  arrowdown: '↓',
  shift: 'Shift',
}

/** Whether the machine has ⌘ instead of Ctrl. */
export const isApple = (): boolean => typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.userAgent)

/** The keys of a binding: `mod+k` → Ctrl, K; `g i` → G, I. */
export function keyCaps(keys: string, apple = isApple()): string[] {
  return keys
    .split(' ')
    .flatMap((chord) => chord.split('+'))
    .map((cap) =>
      cap === 'mod' ? (apple ? '⌘' : 'Ctrl') : (SIGNS[cap] ?? (cap.length === 1 ? cap.toUpperCase() : cap)),
    )
}

/** Drawn, because few fonts have the sign of the Enter key. */
const Enter = () => (
  <svg className={styles.enter} viewBox="0 0 12 12">
    <path d="M10 2v3.5A1.5 1.5 0 0 1 8.5 7H2M4.5 4.5 2 7l2.5 2.5" />
  </svg>
)

/** One key of the keyboard. `spoken` where no sentence nearby says it. */
export const Cap = ({ cap, spoken = false }: { cap: string; spoken?: boolean }): ReactNode => (
  <kbd className={styles.key} aria-hidden={spoken ? undefined : true}>
    {cap === SIGNS['enter'] && !spoken ? <Enter /> : cap}
  </kbd>
)

/** The keys of a shortcut, as on buttons. Hidden from screen readers. */
export function Kbd({ keys }: { keys: string }) {
  const caps = keyCaps(keys)
  const [only] = caps
  if (only !== undefined && caps.length === 1) return <Cap cap={only} />
  return (
    <span className={styles.keys} aria-hidden="true">
      {caps.map((cap) => (
        <Cap key={cap} cap={cap} />
      ))}
    </span>
  )
}
