import { useId, type ComponentProps, type ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Icon } from './icon.tsx'
import styles from './field.module.css'
import fitStyles from './fit.module.css'

type FieldShell = {
  label: string
  /** Shown at the end of the label's line, such as a link. */
  aside?: ReactNode
  hint?: ReactNode
  /** The error; it replaces the hint and is announced. */
  error?: string | undefined
}

type FieldProps = FieldShell & Omit<ComponentProps<'input'>, 'id'> & { after?: ReactNode }

/** An input with its label above. */
export function Field({ label, aside, hint, error, after, className, ...input }: FieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  return (
    <div>
      <FieldLabel htmlFor={id} aside={aside}>
        {label}
      </FieldLabel>
      <InputBox>
        <input
          id={id}
          className={className}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined && hint === undefined ? undefined : noteId}
          {...input}
        />
        {after}
      </InputBox>
      <FieldNote id={noteId} hint={hint} error={error} />
    </div>
  )
}

type SelectFieldProps = FieldShell & Omit<ComponentProps<'select'>, 'id'>

export function SelectField({ label, aside, hint, error, children, ...select }: SelectFieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  return (
    <div>
      <FieldLabel htmlFor={id} aside={aside}>
        {label}
      </FieldLabel>
      <span className={classNames(styles.box, styles.select, fitStyles.relative)}>
        <select
          id={id}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined && hint === undefined ? undefined : noteId}
          {...select}
        >
          {children}
        </select>
        <Icon name="down" />
      </span>
      <FieldNote id={noteId} hint={hint} error={error} />
    </div>
  )
}

/** The frame of an input, with what belongs into it, such as a button that copies. */
export const InputBox = ({ children }: { children: ReactNode }) => <span className={styles.box}>{children}</span>

/** The label of a field, or of a group of fields. */
export function FieldLabel({ htmlFor, aside, children }: { htmlFor: string; aside?: ReactNode; children: ReactNode }) {
  if (aside === undefined) {
    return (
      <label className={styles.label} htmlFor={htmlFor}>
        {children}
      </label>
    )
  }
  return (
    <span className={styles.label}>
      <label htmlFor={htmlFor}>{children}</label> {aside}
    </span>
  )
}

/** The name of a `fieldset`. */
export const FieldLegend = ({ children }: { children: ReactNode }) => (
  <legend className={styles.label}>{children}</legend>
)

type FieldHintProps = {
  id?: string | undefined
  /** It says what is wrong. */
  bad?: boolean
  role?: 'alert' | 'status' | undefined
  children: ReactNode
}

/** A sentence below a field or a button. */
export const FieldHint = ({ id, bad = false, role, children }: FieldHintProps) => (
  <p className={styles.hint} id={id} role={role} data-bad={bad ? '' : undefined}>
    {children}
  </p>
)

/** Moves the focus to the first invalid field, once the form shows its errors. */
export function focusFirstInvalid(form: HTMLElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}

/** Always rendered, so that an error that appears later is announced. */
function FieldNote({ id, hint, error }: { id: string; hint: ReactNode; error: string | undefined }) {
  if (error !== undefined) {
    return (
      <FieldHint id={id} role="alert" bad>
        <Icon name="warn" />
        {error}
      </FieldHint>
    )
  }
  return hint === undefined ? null : <FieldHint id={id}>{hint}</FieldHint>
}
