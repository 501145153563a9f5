import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'
import styles from './crumbs.module.css'

/** The way back to the list, and what of the list is shown. */
export function Crumbs({ label, list, children }: { label: string; list: ReactNode; children: ReactNode }) {
  return (
    <nav className={styles.crumbs} aria-label={label}>
      {list}
      <Icon name="right" />
      {children}
    </nav>
  )
}
