import { Fragment, type ReactNode } from 'react'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { Icon } from '../../ui/icon.tsx'
import styles from './sentence.module.css'

type SentenceProps = {
  /** With a `{name}` for each slot: one text, so that another language can order it differently. */
  text: string
  slots: Readonly<Record<string, ReactNode>>
  small?: boolean
  children?: ReactNode
}

/** A sentence with controls in it. */
export const Sentence = ({ text, slots, small = false, children }: SentenceProps) => (
  <div className={styles.sentence} data-small={small ? '' : undefined}>
    {text.split(/(\{\w+\})/).map((part, index) => (
      // The parts keep their order.
      <Fragment key={`${index} ${part}`}>{part.startsWith('{') ? slots[part.slice(1, -1)] : part}</Fragment>
    ))}
    {children}
  </div>
)

type SlotProps = { label: string; isWrong?: boolean; errorId?: string | undefined }

type TextSlotProps = SlotProps & {
  value: string
  onChange: (value: string) => void
  /** A name and not a number. */
  isText?: boolean
  placeholder?: string
}

/** A number or a name in a sentence; as wide as its text. */
export const TextSlot = ({
  label,
  value,
  onChange,
  isWrong = false,
  errorId,
  isText = false,
  placeholder,
}: TextSlotProps) => (
  <input
    className={classNames(styles.slot, fitStyles.slot, styles.typed)}
    aria-label={label}
    aria-invalid={isWrong ? true : undefined}
    aria-describedby={isWrong ? errorId : undefined}
    inputMode={isText ? undefined : 'decimal'}
    autoComplete="off"
    spellCheck={false}
    maxLength={isText ? 200 : 14}
    value={value}
    placeholder={placeholder}
    style={{ inlineSize: `calc(${Math.max(3, (value === '' ? (placeholder ?? '') : value).length)}ch + 22px)` }}
    onChange={(event) => onChange(event.target.value)}
  />
)

type ChoiceSlotProps<T extends string> = SlotProps & {
  value: T
  options: readonly { readonly value: T; readonly label: string }[]
  onChange: (value: T) => void
}

/** One of several values in a sentence. */
export function ChoiceSlot<T extends string>({
  label,
  value,
  options,
  onChange,
  isWrong = false,
  errorId,
}: ChoiceSlotProps<T>) {
  return (
    <span className={styles.choice}>
      <select
        className={classNames(styles.slot, fitStyles.slot)}
        aria-label={label}
        aria-invalid={isWrong ? true : undefined}
        aria-describedby={isWrong ? errorId : undefined}
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.target.value)
          if (chosen !== undefined) onChange(chosen.value)
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </span>
  )
}
