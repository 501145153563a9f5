import type { ReactNode } from 'react'
import styles from './live-text.module.css'

type LiveTextProps = { children: ReactNode; title?: string; lost?: boolean }

/** A text with a dot that pulses while the data is live, and is still and amber when it is not. */
export function LiveText({ children, title, lost = false }: LiveTextProps) {
  return (
    <span className={styles.live} data-lost={lost ? '' : undefined} title={title}>
      {children}
    </span>
  )
}
