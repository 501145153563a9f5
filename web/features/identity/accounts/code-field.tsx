import { useId, type Ref } from 'react'
import { classNames } from '../../../ui/class-names.ts'
import { FieldHint } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import styles from './code-field.module.css'
import typeStyles from '../../../ui/type.module.css'

export const CODE_LENGTH = 6

/** The digits of a text: a pasted code may have spaces. */
export const extractDigits = (text: string): string => text.replace(/\D/g, '').slice(0, CODE_LENGTH)

type CodeFieldProps = {
  label: string
  value: string
  error?: string | undefined
  ref?: Ref<HTMLInputElement>
  onChange: (digits: string) => void
}

/** One input for six digits, drawn as six boxes: so that pasting, autofill and screen readers work. */
export function CodeField({ label, value, error, ref, onChange }: CodeFieldProps) {
  const id = useId()
  return (
    <div>
      <label className={typeStyles.hidden} htmlFor={id}>
        {label}
      </label>
      <div className={classNames(styles.code, fitStyles.relative)}>
        <input
          ref={ref}
          id={id}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          spellCheck={false}
          // Longer than the code: a pasted one may have spaces.
          maxLength={2 * CODE_LENGTH}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined ? undefined : `${id}-note`}
          value={value}
          onChange={(event) => onChange(extractDigits(event.target.value))}
        />
        <span aria-hidden="true" data-bad={error === undefined ? undefined : ''}>
          {Array.from({ length: CODE_LENGTH }, (_, place) => (
            <i key={place} data-current={place === Math.min(value.length, CODE_LENGTH - 1) ? '' : undefined}>
              {value[place]}
            </i>
          ))}
        </span>
      </div>
      {error === undefined ? null : (
        <FieldHint id={`${id}-note`} role="alert" bad>
          <Icon name="warn" />
          {error}
        </FieldHint>
      )}
    </div>
  )
}
