import type { ReactNode } from 'react'
import styles from './delta.module.css'

type DeltaProps = {
  change: 'better' | 'worse' | 'same'
  /** The value that it is compared with. */
  title?: string | undefined
  children: ReactNode
}

/** By how much a figure changed, coloured by whether that is good. */
export const Delta = ({ change, title, children }: DeltaProps) => (
  <span className={styles.delta} data-change={change} title={title}>
    {children}
  </span>
)
