import { usePageTitle } from '../../app/page-title.ts'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import narrowStyles from '../../ui/narrow.module.css'
import { FiringList } from './firing-list.tsx'
import { RuleList } from './rule-list.tsx'
import { alertsTexts } from './texts.ts'
import styles from './columns.module.css'

/** Alerts that fire now, with the rules beside them. */
export function FiringPage() {
  usePageTitle(alertsTexts.titles.firing)
  return (
    <div className={classNames(styles.columns, fitStyles.columns, styles.even)}>
      <div className={fitStyles.column}>
        <FiringList hasCursor />
      </div>
      <div className={classNames(fitStyles.column, narrowStyles.hiddenAt1064)}>
        <RuleList />
      </div>
    </div>
  )
}
