import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError, call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { meQuery } from '../../../api/queries.ts'
import { PasswordField, ratePassword } from '../../../forms/password-field.tsx'
import { useUnsaved } from '../../../forms/unsaved.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { personalTexts } from './texts.ts'
import styles from './personal.module.css'

const texts = personalTexts.passwordCard

/** Changes the password, which ends the other sessions. */
export function PasswordCard() {
  const [isOpen, setIsOpen] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const me = useQuery(meQuery)
  const isWithout = me.data?.user.has_password === false
  const close = () => {
    setIsOpen(false)
    requestAnimationFrame(() => opener.current?.focus())
  }
  return (
    <Card
      title={texts.title}
      header={
        <>
          <Minor>{isWithout ? texts.none : texts.more}</Minor>
          <Spacer />
          {isOpen || isWithout ? null : (
            <Button ref={opener} size="sm" onClick={() => setIsOpen(true)}>
              {texts.open}
            </Button>
          )}
        </>
      }
    >
      {isOpen ? <PasswordForm onDone={close} /> : null}
    </Card>
  )
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [tried, setTried] = useState(false)
  const strength = ratePassword(next)
  useUnsaved(current !== '' || next !== '')
  const change = useMutation({
    mutationFn: () => call('POST /api/auth/change-password', { body: { currentPassword: current, newPassword: next } }),
    onSuccess: ({ warning }) => {
      addToast({ text: texts.changed, tone: 'good', icon: 'lock' })
      if (warning !== undefined) addToast({ text: warning, icon: 'info' })
      onDone()
    },
  })
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (change.isPending) return
    if (current === '' || !strength.enough) focusFirstInvalid(form)
    else change.mutate(undefined, { onError: () => focusFirstInvalid(form) })
  }
  const refusal = change.error
  const isAboutNew = refusal instanceof ApiError && /^newPassword/i.test(refusal.message)
  const sentence = refusal === null ? undefined : errorSentence(refusal)
  return (
    <Form className={styles.narrowForm} onSubmit={submit}>
      <PasswordField
        label={texts.current}
        autoComplete="current-password"
        autoFocus
        value={current}
        error={tried && current === '' ? texts.missing : isAboutNew ? undefined : sentence}
        onChange={(event) => setCurrent(event.target.value)}
      />
      <PasswordField
        label={texts.next}
        autoComplete="new-password"
        value={next}
        hint={strength.text}
        error={tried && !strength.enough ? strength.text : isAboutNew ? sentence : undefined}
        onChange={(event) => setNext(event.target.value)}
      />
      <Toolbar>
        <Button type="submit" look="primary" busy={change.isPending}>
          {texts.change}
        </Button>
        <Button onClick={onDone}>{appTexts.cancel}</Button>
      </Toolbar>
    </Form>
  )
}
