import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import fitStyles from './fit.module.css'
import styles from './key-values.module.css'

type KeyValuesProps = {
  className?: string | undefined
  /** Less room for the names, in a narrow card. */
  narrow?: boolean
  /** One `div` with `dt` and `dd` for each. */
  children: ReactNode
}

/** Names on the left, their values on the right. */
export const KeyValues = ({ className, narrow = false, children }: KeyValuesProps) => (
  <dl className={classNames(styles.list, fitStyles.breakValues, className)} data-narrow={narrow ? '' : undefined}>
    {children}
  </dl>
)
