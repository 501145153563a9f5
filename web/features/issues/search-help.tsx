import { lazy, Suspense } from 'react'
import { Popover } from '../../ui/popover.tsx'
import { views as texts } from './view-texts.ts'
import styles from './search-help.module.css'

const SearchHelpList = lazy(() =>
  import('./search-help-list.tsx').then((module) => ({ default: module.SearchHelpList })),
)

/** The language of the search field, by example: pressing one puts it into the field. */
export function SearchHelp({ onTake }: { onTake: (term: string) => void }) {
  return (
    <Popover
      label={texts.help}
      align="end"
      trigger={
        <button type="button" className={styles.qHelp} aria-label={texts.help} title={texts.help}>
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
