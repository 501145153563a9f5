import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useState } from 'react'
import { ApiError } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { PasswordField } from '../../../forms/password-field.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { personalTexts } from './texts.ts'

const texts = personalTexts.confirm

type Pending = {
  readonly retry: (password: string) => Promise<void>
  readonly cancel: () => void
}

/** The body of a call that takes the password where the service asks for it. */
export const bodyWithPassword = (password: string | undefined) => (password === undefined ? undefined : { password })

/**
 * For changes of how the user signs in: where the service asks for the password again (403), a dialog asks the user,
 * and the call is repeated with it.
 */
export function useConfirmation() {
  const [pending, setPending] = useState<Pending | null>(null)
  /** @returns null when the user cancelled; @throws what the call throws */
  async function confirmed<T>(send: (password?: string) => Promise<T>): Promise<T | null> {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
    }
    return new Promise<T | null>((resolve) => {
      setPending({
        retry: async (password) => {
          const answer = await send(password)
          setPending(null)
          resolve(answer)
        },
        cancel: () => {
          setPending(null)
          resolve(null)
        },
      })
    })
  }
  const dialog =
    pending === null ? null : (
      <PasswordDialog
        title={texts.title}
        text={texts.text}
        more={texts.withoutPassword}
        submit={texts.submit}
        needsPassword
        onSend={pending.retry}
        onClose={pending.cancel}
      />
    )
  return { confirmed, dialog }
}

type PasswordDialogProps = {
  title: string
  text: string
  more?: string
  submit: string
  danger?: boolean
  /** False for users without a password. */
  needsPassword: boolean
  /** @throws ApiError for a wrong password */
  onSend: (password: string) => Promise<void>
  onClose: () => void
}

/** Asks for the password before something is done. */
export function PasswordDialog({
  title,
  text,
  more,
  submit,
  danger = false,
  needsPassword,
  onSend,
  onClose,
}: PasswordDialogProps) {
  const [password, setPassword] = useState('')
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isAboutPassword = error === personalTexts.passwordMissing || (error !== null && /^password/i.test(error))
  const send = async (form: HTMLFormElement) => {
    if (isBusy) return
    if (needsPassword && password === '') {
      setError(personalTexts.passwordMissing)
      return focusFirstInvalid(form)
    }
    setIsBusy(true)
    setError(null)
    try {
      await onSend(password)
    } catch (failure) {
      setError(errorSentence(failure))
      focusFirstInvalid(form)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Dialog open onClose={onClose} title={title}>
      <p>{text}</p>
      {error !== null && !isAboutPassword ? (
        <Note tone="red" icon="warn" role="alert">
          {error}
        </Note>
      ) : null}
      <Form onSubmit={(form) => void send(form)}>
        {needsPassword ? (
          <PasswordField
            label={personalTexts.password}
            autoComplete="current-password"
            data-autofocus
            value={password}
            error={isAboutPassword ? error : undefined}
            onChange={(event) => setPassword(event.target.value)}
          />
        ) : null}
        {more === undefined ? null : <Minor as="p">{more}</Minor>}
        <DialogFoot onClose={onClose} submit={submit} look={danger ? 'danger' : 'primary'} busy={isBusy} />
      </Form>
    </Dialog>
  )
}
