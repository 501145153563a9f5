import { usePageTitle } from '../../app/page-title.ts'
import { classNames } from '../../ui/class-names.ts'
import { FiringList } from './firing-list.tsx'
import { RuleList } from './rule-list.tsx'
import { alertsTexts } from './texts.ts'
import styles from './columns.module.css'

/** Alerts that fire now, with the rules beside them. */
export function FiringPage() {
  usePageTitle(alertsTexts.titles.firing)
  return (
    <div className={classNames(styles.columns, styles.even)}>
      <div className={styles.column}>
        <FiringList hasCursor />
      </div>
      <div className={classNames(styles.column, styles.beside)}>
        <RuleList />
      </div>
    </div>
  )
}
