import type { ReactNode } from 'react'
import { InputBox } from '../ui/field.tsx'
import { formatCount } from '../ui/format.ts'
import { Minor } from '../ui/text.tsx'
import styles from './check-list.module.css'
import typeStyles from '../ui/type.module.css'

export type CheckRow = {
  key: string
  /** In full. */
  text: string
  /** How it looks; by default as its text. */
  shown?: ReactNode
  isChecked: boolean
  /** How many there are, and how a screen reader says it. */
  count?: { value: number; text: string } | null
  onChange: () => void
}

type CheckListProps = {
  label: string
  rows: readonly CheckRow[]
  isBusy?: boolean
  /** One row is chosen instead of any number. */
  isSingle?: boolean
  /** A field that narrows the list. */
  find?: { label: string; text: string; onChange: (text: string) => void } | null
  /** Notes below the list. */
  children?: ReactNode
}

/** Values to choose from, with their counts. */
export function CheckList({ label, rows, isBusy = false, isSingle = false, find = null, children }: CheckListProps) {
  return (
    <fieldset className={styles.values} aria-busy={isBusy}>
      <legend>{label}</legend>
      {find === null ? null : (
        <InputBox>
          <input
            type="search"
            aria-label={find.label}
            placeholder={find.label}
            value={find.text}
            onChange={(event) => find.onChange(event.target.value)}
          />
        </InputBox>
      )}
      <div className={styles.list}>
        {rows.map(({ key, text, shown, isChecked, count = null, onChange }) => (
          <label key={key}>
            <input
              type={isSingle ? 'radio' : 'checkbox'}
              name={isSingle ? label : undefined}
              checked={isChecked}
              onChange={onChange}
            />
            <span className={styles.value} title={text}>
              {shown ?? text}
            </span>
            {count === null ? null : (
              <Minor className={typeStyles.figures} aria-label={count.text}>
                {formatCount(count.value)}
              </Minor>
            )}
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  )
}
