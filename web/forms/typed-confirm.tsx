import { useState, type ReactNode } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { appTexts } from '../app/texts.ts'
import { DialogFoot } from './dialog-foot.tsx'

type TypedConfirmProps = {
  title: string
  text: string
  /** The word that the user types to confirm, in any case. */
  word: string
  submit: string
  isBusy: boolean
  /** Why the last attempt failed, where the dialog stays open. */
  error?: string | undefined
  onConfirm: () => void
  onClose: () => void
  /** A note above the fields. */
  note?: ReactNode
  /** Fields above the confirmation. */
  children?: ReactNode
}

/** Confirms what cannot be undone by typing. Mount it when it opens: the field is empty then. */
export function TypedConfirm({
  title,
  text,
  word,
  submit,
  isBusy,
  error,
  onConfirm,
  onClose,
  note,
  children,
}: TypedConfirmProps) {
  const [typed, setTyped] = useState('')
  const label = appTexts.typeToConfirm(word)
  const ready = typed.trim().toLowerCase() === word.toLowerCase()
  const send = () => {
    if (ready && !isBusy) onConfirm()
  }
  return (
    <Dialog open onClose={onClose} title={title}>
      <p>{text}</p>
      {note}
      <Form onSubmit={send}>
        {children}
        <Field
          label={label}
          error={error}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <DialogFoot onClose={onClose} submit={submit} look="danger" busy={isBusy} why={ready ? undefined : label} />
      </Form>
    </Dialog>
  )
}
