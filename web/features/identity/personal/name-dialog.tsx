import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useState } from 'react'
import { errorSentence } from '../../../api/change.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'

type NameDialogProps = {
  title: string
  text?: string
  label: string
  /** The sentence for an empty name. */
  missing: string
  submit: string
  /** The name at first. */
  name: string
  isBusy: boolean
  error: Error | null
  onClose: () => void
  onSubmit: (name: string) => void
}

/** Asks for a name. */
export function NameDialog({
  title,
  text,
  label,
  missing,
  submit,
  name,
  isBusy,
  error,
  onClose,
  onSubmit,
}: NameDialogProps) {
  const [given, setGiven] = useState(name)
  const [tried, setTried] = useState(false)
  const isMissing = given.trim() === ''
  return (
    <Dialog open onClose={onClose} title={title}>
      {text === undefined ? null : <p>{text}</p>}
      <Form
        onSubmit={(form) => {
          if (isBusy) return
          setTried(true)
          if (isMissing) focusFirstInvalid(form)
          else onSubmit(given.trim())
        }}
      >
        <Field
          label={label}
          data-autofocus
          autoComplete="off"
          maxLength={80}
          value={given}
          error={tried && isMissing ? missing : error === null ? undefined : errorSentence(error)}
          onChange={(event) => setGiven(event.target.value)}
          onFocus={(event) => event.target.select()}
        />
        <DialogFoot onClose={onClose} submit={submit} busy={isBusy} />
      </Form>
    </Dialog>
  )
}
