import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { Icon } from '../../ui/icon.tsx'
import type { Chip } from './model.ts'
import { queryTexts } from './texts.ts'
import styles from './chip.module.css'

type QueryChipProps = { chip: Chip; isWrong: boolean; onEdit: () => void; onRemove: () => void }

/** A term of a query. A press, or Enter, edits it; Delete removes it. */
export function QueryChip({ chip, isWrong, onEdit, onRemove }: QueryChipProps) {
  const { text, term } = chip
  return (
    <span className={styles.chip} data-words={term === null ? '' : undefined} data-wrong={isWrong ? '' : undefined}>
      <button
        type="button"
        className={classNames(styles.edit, fitStyles.cutSpans)}
        title={queryTexts.edit(text)}
        onClick={onEdit}
        onKeyDown={(event) => {
          if (event.key !== 'Backspace' && event.key !== 'Delete') return
          event.preventDefault()
          onRemove()
        }}
      >
        {term === null ? (
          text
        ) : (
          <>
            {term.isNegated ? <i>{queryTexts.not} </i> : null}
            <b>{term.key}</b> <span>{term.values.map((value) => value.text).join(', ')}</span>
          </>
        )}
      </button>
      <button
        type="button"
        className={classNames(styles.remove, choiceStyles.lightens)}
        aria-label={queryTexts.remove(text)}
        onClick={onRemove}
      >
        <Icon name="x" />
      </button>
    </span>
  )
}

type FilterChipProps = { name: string; value: string; label: string; onRemove: () => void }

/** A filter that is no term of the query, such as a time of the chart. */
export const FilterChip = ({ name, value, label, onRemove }: FilterChipProps) => (
  <span className={styles.chip}>
    <span className={classNames(styles.edit, fitStyles.cutSpans)}>
      <b>{name}</b>
      <span>{value}</span>
    </span>
    <button
      type="button"
      className={classNames(styles.remove, choiceStyles.lightens)}
      aria-label={label}
      onClick={onRemove}
    >
      <Icon name="x" />
    </button>
  </span>
)
