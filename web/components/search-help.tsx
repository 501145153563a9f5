import { lazy, Suspense } from 'react'
import { Popover } from '../ui/popover.tsx'
import { views as words } from '../words/views.ts'

const SearchHelpList = lazy(() =>
  import('./search-help-list.tsx').then((module) => ({ default: module.SearchHelpList })),
)

/** The language of the search field, by example: pressing one puts it into the field. */
export function SearchHelp({ onTake }: { onTake: (term: string) => void }) {
  return (
    <Popover
      label={words.help}
      align="end"
      trigger={
        <button type="button" className="q-help" aria-label={words.help} title={words.help}>
          ?
        </button>
      }
    >
      <Suspense fallback={null}>
        <SearchHelpList onTake={onTake} />
      </Suspense>
    </Popover>
  )
}
