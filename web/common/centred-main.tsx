import type { ReactNode } from 'react'
import styles from './centred-main.module.css'

/** The main part of a page that shows one thing alone: nothing found, not loaded, not there yet. */
export function CentredMain({ children }: { children?: ReactNode }) {
  return (
    <main className={styles.main} id="main" tabIndex={-1}>
      {children}
    </main>
  )
}
