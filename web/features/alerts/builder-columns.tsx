import type { ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import narrowStyles from '../../ui/narrow.module.css'
import { FiringList } from './firing-list.tsx'
import { RuleList } from './rule-list.tsx'
import styles from './columns.module.css'

/** The builder with the lists beside it where there is room. */
export const BuilderColumns = ({ children }: { children: ReactNode }) => (
  <div className={classNames(styles.columns, fitStyles.columns)}>
    <div className={classNames(fitStyles.column, narrowStyles.hiddenAt1064)}>
      <FiringList />
      <RuleList />
    </div>
    <div className={fitStyles.column}>{children}</div>
  </div>
)
