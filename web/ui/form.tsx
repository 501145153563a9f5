import type { ReactNode, Ref } from 'react'
import { classNames } from './class-names.ts'
import styles from './form.module.css'
import narrowStyles from './narrow.module.css'
import stackStyles from './stack.module.css'

type FormProps = {
  /** Called with the form by its submit button or Enter; the page is not left. */
  onSubmit: (form: HTMLFormElement) => void
  formRef?: Ref<HTMLFormElement>
  className?: string | undefined
  children: ReactNode
}

/** Fields and buttons below one another. The server judges the values, so the browser does not. */
export const Form = ({ onSubmit, formRef, className, children }: FormProps) => (
  <form
    ref={formRef}
    className={classNames(stackStyles.stack, className)}
    noValidate
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit(event.currentTarget)
    }}
  >
    {children}
  </form>
)

type FormRowProps = { className?: string | undefined; children: ReactNode }

/** Fields side by side, two in a row; on phones below one another. */
export const FormRow = ({ className, children }: FormRowProps) => (
  <div className={classNames(styles.row, narrowStyles.oneColumnAt600, className)}>{children}</div>
)
