import type { ReactNode } from 'react'
import { appTexts } from '../app/texts.ts'
import { Button } from '../ui/button.tsx'
import { Toolbar } from '../ui/stack.tsx'

type DialogFootProps = {
  /** Closes the dialog without a change. */
  cancel?: string
  onClose: () => void
  submit: string
  look?: 'primary' | 'danger'
  busy?: boolean
  /** Why it cannot be submitted. */
  why?: string | undefined
  /** Other buttons, before these. */
  children?: ReactNode
}

/** The buttons of a dialog with a form: Cancel, and one that submits the form around it. */
export const DialogFoot = ({
  cancel = appTexts.cancel,
  onClose,
  submit,
  look = 'primary',
  busy,
  why,
  children,
}: DialogFootProps) => (
  <Toolbar align="end">
    {children}
    <Button onClick={onClose}>{cancel}</Button>
    <Button look={look} type="submit" busy={busy} why={why}>
      {submit}
    </Button>
  </Toolbar>
)
