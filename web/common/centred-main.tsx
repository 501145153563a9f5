import type { ReactNode } from 'react'
import styles from './centred-main.module.css'

/** The main part of a page with a single message, such as an error or an empty state. */
export function CentredMain({ children }: { children?: ReactNode }) {
  return (
    <main className={styles.main} id="main" tabIndex={-1}>
      {children}
    </main>
  )
}
