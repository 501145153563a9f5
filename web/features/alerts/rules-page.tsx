import { usePageTitle } from '../../app/page-title.ts'
import { RuleList } from './rule-list.tsx'
import { alertsTexts } from './texts.ts'
import styles from './columns.module.css'

/** The rules of a project, or of all. */
export function RulesPage() {
  usePageTitle(alertsTexts.titles.rules)
  return (
    <div className={styles.column}>
      <RuleList />
    </div>
  )
}
