import { lazy, Suspense } from 'react'
import type { IssuesSearch } from '../../address/search.ts'
import { Button } from '../../ui/button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { chosenOf } from './filter-values.ts'
import { filterTexts } from './filter-texts.ts'
import type { SearchChange } from './filters.tsx'
import styles from './environment-menu.module.css'

const EnvironmentPanel = lazy(() =>
  import('./environment-panel.tsx').then((module) => ({ default: module.EnvironmentPanel })),
)

/** The environments of the query, and the menu that changes them. */
export function EnvironmentMenu({ search, onChange }: { search: IssuesSearch; onChange: SearchChange }) {
  const chosen = chosenOf(search, 'environment')
  const [first] = chosen
  const text =
    first === undefined
      ? filterTexts.allEnvironments
      : chosen.length === 1
        ? first
        : filterTexts.more(first, chosen.length - 1)
  return (
    <Popover
      label={filterTexts.environment}
      align="end"
      trigger={
        <Button
          caret
          className={styles.button}
          title={filterTexts.environment}
          aria-label={`${filterTexts.environment}: ${text}`}
        >
          {text}
        </Button>
      }
    >
      <Suspense fallback={null}>
        <EnvironmentPanel search={search} onChange={onChange} />
      </Suspense>
    </Popover>
  )
}
