import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { FiringList } from './firing-list.tsx'
import { RuleList } from './rule-list.tsx'
import styles from './columns.module.css'

/** The builder with the lists beside it where there is room. */
export const BuilderColumns = ({ children }: { children: ReactNode }) => (
  <div className={styles.columns}>
    <div className={classNames(styles.column, styles.beside)}>
      <FiringList />
      <RuleList />
    </div>
    <div className={styles.column}>{children}</div>
  </div>
)
