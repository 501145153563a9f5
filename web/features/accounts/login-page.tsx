import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError, call } from '../../api/call.ts'
import { reasonOf } from '../../api/change.ts'
import { EntryFrame } from './entry-frame.tsx'
import { PasswordField } from '../../common/password-field.tsx'
import { usePageTitle } from '../../common/page-title.ts'
import { paths } from '../../address/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Field, FieldHint } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatLeft } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { accountsTexts } from './texts.ts'
import { commonTexts } from '../../common/texts.ts'
import styles from './accounts.module.css'
import typeStyles from '../../ui/type.module.css'

const route = getRouteApi('/login')

export function LoginPage() {
  usePageTitle(null)
  const { next } = route.useSearch()
  const router = useRouter()
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [missing, setMissing] = useState<'email' | 'password' | null>(null)
  const passwordField = useRef<HTMLInputElement>(null)
  const emailField = useRef<HTMLInputElement>(null)

  const logIn = useMutation({
    mutationFn: () => call('POST /api/auth/login', { body: { email: email.trim(), password } }),
    onSuccess: () => {
      client.clear()
      router.history.push(next ?? '/')
    },
    // The password is the most likely mistake, so it gets the focus.
    onError: () => passwordField.current?.focus(),
  })

  const submit = () => {
    if (logIn.isPending) return
    const empty = email.trim() === '' ? 'email' : password === '' ? 'password' : null
    setMissing(empty)
    if (empty === null) return logIn.mutate()
    return (empty === 'email' ? emailField : passwordField).current?.focus()
  }

  const refusal = logIn.error
  const passwordError =
    missing === 'password' ? accountsTexts.missing.password : refusal === null ? undefined : reasonOf(refusal)
  return (
    <EntryFrame>
      <title>{commonTexts.titleOf(accountsTexts.logIn)}</title>
      <Form className={styles.form} onSubmit={submit}>
        <h1>{accountsTexts.logIn}</h1>
        <p className={styles.lead}>{accountsTexts.to(location.host)}</p>
        <Field
          ref={emailField}
          label={accountsTexts.email}
          type="email"
          autoComplete="username"
          autoFocus
          value={email}
          error={missing === 'email' ? accountsTexts.missing.email : undefined}
          onChange={(event) => setEmail(event.target.value)}
        />
        <PasswordField
          ref={passwordField}
          label={accountsTexts.password}
          autoComplete="current-password"
          value={password}
          error={passwordError}
          onChange={(event) => setPassword(event.target.value)}
        />
        {refusal instanceof ApiError && refusal.retryAfterSeconds !== null ? (
          <Wait key={logIn.submittedAt} seconds={refusal.retryAfterSeconds} />
        ) : null}
        <Button type="submit" look="primary" size="lg" className={styles.submit} busy={logIn.isPending}>
          {accountsTexts.logIn}
        </Button>
        <p className={styles.alternative}>
          {accountsTexts.noAccount}{' '}
          <Link className={typeStyles.link} {...paths.signup()}>
            {accountsTexts.createOrg}
          </Link>
        </p>
      </Form>
    </EntryFrame>
  )
}

/** The time left until the next attempt after a 429. */
function Wait({ seconds }: { seconds: number }) {
  const [until] = useState(() => Date.now() + seconds * 1000)
  const now = useNow('second')
  // Announced once when it appears; the countdown is only visible.
  const [said] = useState(() => formatLeft(until))
  if (now >= until) return null
  return (
    <FieldHint role="status">
      <span className={typeStyles.hidden}>{accountsTexts.possibleIn(said)}</span>
      <span aria-hidden="true">{accountsTexts.possibleIn(formatLeft(until, now))}</span>
    </FieldHint>
  )
}
