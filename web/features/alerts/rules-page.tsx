import { usePageTitle } from '../../app/page-title.ts'
import fitStyles from '../../ui/fit.module.css'
import { RuleList } from './rule-list.tsx'
import { alertsTexts } from './texts.ts'

/** The rules of a project, or of all. */
export function RulesPage() {
  usePageTitle(alertsTexts.titles.rules)
  return (
    <div className={fitStyles.column}>
      <RuleList />
    </div>
  )
}
