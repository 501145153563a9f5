import { Popover } from '../ui/popover.tsx'
import { views as words } from '../words/views.ts'

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
      <div className="searchhelp">
        <p className="sub">{words.helpIntro}</p>
        <ul>
          {words.examples.map(([term, meaning]) => (
            <li key={term}>
              <button type="button" onClick={() => onTake(term)}>
                <code>{term}</code>
                <span className="sub">{meaning}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Popover>
  )
}
