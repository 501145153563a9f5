import { classNames } from './class-names.ts'
import styles from './bar.module.css'

type BarProps = {
  /** From 0 to 1. */
  share: number
  tone?: 'plain' | 'warn'
  className?: string | undefined
}

/** A share as a bar. Decoration: the figure stands beside it. */
export const Bar = ({ share, tone = 'plain', className }: BarProps) => (
  <span className={classNames(styles.bar, className)} data-tone={tone} aria-hidden="true">
    <span style={{ inlineSize: `${Math.round(share * 100)}%` }} />
  </span>
)
