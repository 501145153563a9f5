import type { ReactNode } from 'react'
import { appTexts } from '../app/texts.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Toolbar } from '../ui/stack.tsx'

type ConfirmDialogProps = {
  open?: boolean
  title: string
  text: string
  /** Closes the dialog; it has the focus first. */
  cancel?: string
  submit: string
  isBusy?: boolean
  onConfirm: () => void
  onClose: () => void
  /** Below the text, such as why it failed. */
  children?: ReactNode
}

/** Confirms a change that cannot be undone, or that loses something. */
export const ConfirmDialog = ({
  open = true,
  title,
  text,
  cancel = appTexts.cancel,
  submit,
  isBusy = false,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) => (
  <Dialog open={open} onClose={onClose} title={title}>
    <p>{text}</p>
    {children}
    <Toolbar align="end">
      <Button data-autofocus onClick={onClose}>
        {cancel}
      </Button>
      <Button look="danger" busy={isBusy} onClick={onConfirm}>
        {submit}
      </Button>
    </Toolbar>
  </Dialog>
)
