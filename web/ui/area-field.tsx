import { useId } from 'react'
import { FieldHint, FieldLabel } from './field.tsx'
import styles from './field.module.css'
import typeStyles from './type.module.css'

type AreaFieldProps = {
  label: string
  hint: string
  value: string
  readOnly: boolean
  error?: string | undefined
  rows?: number
  onChange: (value: string) => void
}

/** A labelled text area in the code font. */
export function AreaField({ label, hint, value, readOnly, error, rows = 3, onChange }: AreaFieldProps) {
  const id = useId()
  return (
    <div>
      <FieldLabel htmlFor={id}>{label}</FieldLabel>
      <textarea
        id={id}
        className={`${styles.area} ${typeStyles.mono}`}
        rows={Math.max(rows, Math.min(10, value.split('\n').length))}
        value={value}
        readOnly={readOnly}
        spellCheck={false}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.target.value)}
      />
      <FieldHint id={`${id}-note`} bad={error !== undefined} role={error === undefined ? undefined : 'alert'}>
        {error ?? hint}
      </FieldHint>
    </div>
  )
}

/** The lines of a text, trimmed, without empty ones. */
export const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
