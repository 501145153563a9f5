import { useFirstFocus } from '../../ui/first-focus.ts'
import { searchHelpTexts } from './search-help-texts.ts'
import styles from './search-help-list.module.css'

/** Examples of the language; pressing one puts it into the field. */
export function SearchHelpList({ onTake }: { onTake: (term: string) => void }) {
  const root = useFirstFocus<HTMLDivElement>()
  return (
    <div className={styles.searchhelp} ref={root}>
      <p className="sub">{searchHelpTexts.intro}</p>
      <ul>
        {searchHelpTexts.examples.map(([term, meaning]) => (
          <li key={term}>
            <button type="button" onClick={() => onTake(term)}>
              <code>{term}</code>
              <span className="sub">{meaning}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
