import { lazy, Suspense } from 'react'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { Popover } from '../../../ui/popover.tsx'
import { viewTexts } from './view-texts.ts'
import styles from './search-help.module.css'

const SearchHelpList = lazy(() =>
  import('./search-help-list.tsx').then((module) => ({ default: module.SearchHelpList })),
)

/** The search help with examples. */
export function SearchHelp({ onTake }: { onTake: (term: string) => void }) {
  return (
    <Popover
      label={viewTexts.help}
      align="end"
      trigger={
        <button
          type="button"
          className={classNames(styles.qHelp, choiceStyles.hovers)}
          aria-label={viewTexts.help}
          title={viewTexts.help}
        >
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
