import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import narrowStyles from './narrow.module.css'
import styles from './page-head.module.css'

type PageHeadProps = {
  className?: string | undefined
  /** The `h1`, and a sentence below it. */
  children: ReactNode
  /** Buttons at the end. */
  actions?: ReactNode
}

/** The top of a page: its title and what can be done with all of it. */
export const PageHead = ({ className, children, actions }: PageHeadProps) => (
  <div className={classNames(styles.head, className)}>
    {children}
    {actions === undefined ? null : (
      <div className={classNames(styles.actions, narrowStyles.wrapsAt352)}>{actions}</div>
    )}
  </div>
)
