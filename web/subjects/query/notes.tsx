import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import type { QueryHint } from '../../api/query-hints.ts'
import { classNames } from '../../ui/class-names.ts'
import typeStyles from '../../ui/type.module.css'
import { queryExcerpt, mistakeSentence, type QueryMistake } from './mistake.ts'
import { queryTexts } from './texts.ts'
import styles from './notes.module.css'

type QueryNotesProps = {
  id: string
  query: string
  mistake: QueryMistake | null
  hints: readonly QueryHint[]
  onReplace: (hint: QueryHint) => void
}

/** Lines under a query field: what is wrong and where, or what may be meant. Always rendered, so that they are announced. */
export function QueryNotes({ id, query, mistake, hints, onReplace }: QueryNotesProps) {
  const place = mistake?.position == null ? null : queryExcerpt(query, mistake.position)
  return (
    <div id={id} role="status" className={styles.notes}>
      {mistake === null ? null : (
        <p className={classNames(styles.mistake, typeStyles.red)}>
          <Icon name="warn" />
          {place === null ? null : (
            <code>
              {place.before}
              <mark>{place.marked}</mark>
              {place.after}
            </code>
          )}
          <span>{mistakeSentence(mistake, query)}</span>
        </p>
      )}
      {hints.map((hint) => (
        <p key={`${hint.start} ${hint.sentence}`} className={styles.hint}>
          <span>{hint.sentence}</span>
          {hint.replacement === null ? null : (
            <Button size="sm" onClick={() => onReplace(hint)}>
              {queryTexts.use(hint.replacement)}
            </Button>
          )}
        </p>
      ))}
    </div>
  )
}
