import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call } from '../../../api/call.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { appTexts } from '../../../app/texts.ts'
import { paths } from '../../../address/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { Back, EntryHead, Refusal } from './entry-parts.tsx'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const texts = accountsTexts.forgotPage

/** Asks for a link that sets a new password. The answer never tells whether the address has an account. */
export function ForgotPage() {
  usePageTitle(null)
  const [email, setEmail] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const ask = useMutation({
    mutationFn: () => call('POST /api/auth/forgot-password', { body: { email: email.trim() } }),
  })
  const submit = () => {
    if (ask.isPending) return
    setIsMissing(email.trim() === '')
    if (email.trim() === '') field.current?.focus()
    else ask.mutate()
  }
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(texts.title)}</title>
      <Form className={styles.form} onSubmit={submit}>
        <Back link={paths.login()} />
        <EntryHead title={texts.title}>{texts.lead}</EntryHead>
        {ask.isSuccess ? (
          <Note tone="green" icon="mail" role="status">
            {texts.sent}
          </Note>
        ) : null}
        {ask.error === null ? null : <Refusal error={ask.error} />}
        <Field
          ref={field}
          label={accountsTexts.email}
          type="email"
          autoComplete="username"
          autoFocus
          value={email}
          error={isMissing ? accountsTexts.missing.email : undefined}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Button
          type="submit"
          look={ask.isSuccess ? 'plain' : 'primary'}
          size="lg"
          className={styles.submit}
          busy={ask.isPending}
        >
          {ask.isSuccess ? texts.again : texts.submit}
        </Button>
      </Form>
    </EntryFrame>
  )
}
