import { classNames } from './class-names.ts'
import styles from './spinner.module.css'

/** Something is under way. Decoration: what is under way is said in words beside it. */
export const Spinner = ({ className }: { className?: string | undefined }) => (
  <span className={classNames(styles.spinner, className)} aria-hidden="true" />
)
