import { classNames } from './class-names.ts'
import { uiTexts } from './texts.ts'
import styles from './attention-dot.module.css'

/** After the name of a page where something needs attention. */
export const AttentionDot = ({ className }: { className?: string | undefined }) => (
  <span className={classNames(styles.dot, className)} role="img" aria-label={uiTexts.attention} />
)
