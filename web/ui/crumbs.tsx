import type { ReactNode } from 'react'
import choiceStyles from './choice.module.css'
import { classNames } from './class-names.ts'
import { Icon } from './icon.tsx'
import styles from './crumbs.module.css'

/** The way back to the list, and what of the list is shown. */
export function Crumbs({ label, list, children }: { label: string; list: ReactNode; children: ReactNode }) {
  return (
    <nav className={classNames(styles.crumbs, choiceStyles.lightenLinks)} aria-label={label}>
      {list}
      <Icon name="right" />
      {children}
    </nav>
  )
}
