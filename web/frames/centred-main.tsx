import type { ReactNode } from 'react'
import { PageMain } from '../ui/page-main.tsx'
import styles from './centred-main.module.css'

/** The main part of a page with a single message, such as an error or an empty state. */
export function CentredMain({ children }: { children?: ReactNode }) {
  return (
    <PageMain>
      <div className={styles.centred}>{children}</div>
    </PageMain>
  )
}
