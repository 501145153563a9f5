import type { ReactNode } from 'react'
import styles from './live-text.module.css'

type LiveTextProps = { children: ReactNode; title?: string; lost?: boolean }

/** A text behind a dot that breathes for as long as what it says is kept up to date; still and amber once that is lost. */
export function LiveText({ children, title, lost = false }: LiveTextProps) {
  return (
    <span className={styles.live} data-lost={lost ? '' : undefined} title={title}>
      {children}
    </span>
  )
}
