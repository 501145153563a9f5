import { useId, type ComponentProps, type ReactNode } from 'react'
import { Icon } from './icon.tsx'

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
      <FieldLabel id={id} label={label} aside={aside} />
      <span className={error === undefined ? 'input' : 'input bad-in'}>
        <input
          id={id}
          className={className}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={error === undefined && hint === undefined ? undefined : noteId}
          {...input}
        />
        {after}
      </span>
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
      <FieldLabel id={id} label={label} aside={aside} />
      <span className={error === undefined ? 'input select' : 'input select bad-in'}>
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

function FieldLabel({ id, label, aside }: { id: string; label: string; aside: ReactNode }) {
  if (aside === undefined) {
    return (
      <label className="field-l" htmlFor={id}>
        {label}
      </label>
    )
  }
  return (
    <span className="field-l">
      <label htmlFor={id}>{label}</label> {aside}
    </span>
  )
}

/** Moves the focus to the first invalid field, once the form shows its errors. */
export function focusFirstInvalid(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}

/** Always rendered, so that an error that appears later is announced. */
function FieldNote({ id, hint, error }: { id: string; hint: ReactNode; error: string | undefined }) {
  if (error !== undefined) {
    return (
      <p className="hint c-red" id={id} role="alert">
        <Icon name="warn" />
        {error}
      </p>
    )
  }
  return hint === undefined ? null : (
    <p className="hint" id={id}>
      {hint}
    </p>
  )
}
