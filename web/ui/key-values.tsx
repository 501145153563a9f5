import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './key-values.module.css'

type KeyValuesProps = {
  className?: string | undefined
  /** One `div` with `dt` and `dd` for each. */
  children: ReactNode
}

/** Names on the left, their values on the right. */
export const KeyValues = ({ className, children }: KeyValuesProps) => (
  <dl className={classNames(styles.list, className)}>{children}</dl>
)
