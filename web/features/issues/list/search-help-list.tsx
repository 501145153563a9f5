import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { useFirstFocus } from '../../../ui/first-focus.ts'
import { Minor } from '../../../ui/text.tsx'
import { searchHelpTexts } from './search-help-texts.ts'
import styles from './search-help-list.module.css'

/** Examples of queries; pressing one inserts it into the field. */
export function SearchHelpList({ onTake }: { onTake: (term: string) => void }) {
  const root = useFirstFocus<HTMLDivElement>()
  return (
    <div className={classNames(styles.searchhelp, choiceStyles.hoverItems)} ref={root}>
      <Minor as="p">{searchHelpTexts.intro}</Minor>
      <ul>
        {searchHelpTexts.examples.map(([term, meaning]) => (
          <li key={term}>
            <button type="button" onClick={() => onTake(term)}>
              <code>{term}</code>
              <Minor>{meaning}</Minor>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
