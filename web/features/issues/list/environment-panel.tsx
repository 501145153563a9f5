import type { IssuesSearch } from '../../../address/search.ts'
import { Button } from '../../../ui/button.tsx'
import { useFirstFocus } from '../../../ui/first-focus.ts'
import { Toolbar } from '../../../ui/stack.tsx'
import { withValues } from './filter-values.ts'
import type { SearchChange } from './filters.tsx'
import { issuesTexts } from './texts.ts'
import { ValueList } from './value-list.tsx'
import styles from './environment-panel.module.css'

/** The environments of the issues, and the button that stands for all of them. */
export function EnvironmentPanel({ search, onChange }: { search: IssuesSearch; onChange: SearchChange }) {
  const root = useFirstFocus<HTMLDivElement>()
  return (
    <div className={styles.panel} ref={root}>
      <ValueList search={search} onChange={onChange} filter="environment" label={issuesTexts.environment} />
      <Toolbar align="end">
        <Button size="sm" onClick={() => onChange(withValues(search, 'environment', []))}>
          {issuesTexts.allEnvironments}
        </Button>
      </Toolbar>
    </div>
  )
}
