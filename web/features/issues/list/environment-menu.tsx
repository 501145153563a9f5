import { lazy, Suspense } from 'react'
import type { IssuesSearch } from '../../../address/search.ts'
import { Button } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Popover } from '../../../ui/popover.tsx'
import { chosenValues } from './filter-values.ts'
import type { SearchChange } from './filters.tsx'
import { issuesTexts } from './texts.ts'

const EnvironmentPanel = lazy(() =>
  import('./environment-panel.tsx').then((module) => ({ default: module.EnvironmentPanel })),
)

/** The environments of the query, and the menu that changes them. */
export function EnvironmentMenu({ search, onChange }: { search: IssuesSearch; onChange: SearchChange }) {
  const chosen = chosenValues(search, 'environment')
  const [first] = chosen
  const text =
    first === undefined
      ? issuesTexts.allEnvironments
      : chosen.length === 1
        ? first
        : issuesTexts.andMore(first, chosen.length - 1)
  return (
    <Popover
      label={issuesTexts.environment}
      align="end"
      trigger={
        <Button
          caret
          className={fitStyles.narrowButton}
          title={issuesTexts.environment}
          aria-label={`${issuesTexts.environment}: ${text}`}
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
