import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { methodsQuery } from '../../../api/account-queries.ts'
import { call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { hasPasskeys, logInWithPasskey } from '../../../api/passkeys.ts'
import { paths } from '../../../address/paths.ts'
import { PasswordField } from '../../../forms/password-field.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Note } from '../../../ui/note.tsx'
import { Alternative, EntryHead, Or, Refusal, Wait } from './entry-parts.tsx'
import { ProviderIcon } from '../../../frames/provider-icon.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { accountsTexts as texts } from './texts.ts'
import styles from './accounts.module.css'
import typeStyles from '../../../ui/type.module.css'

const route = getRouteApi('/login')

/** A right password that needs a code too. */
export type Challenge = { readonly email: string; readonly password: string }

type LogInFormProps = {
  email: string
  onEmail: (email: string) => void
  onChallenge: (challenge: Challenge) => void
  /** Logged in with the password. */
  onPassword: (given: Challenge) => void
  onEntered: () => void
}

/** Every way to log in, the one with the fewest steps first. */
export function LogInForm({ onEntered, ...rest }: LogInFormProps) {
  const { next } = route.useSearch()
  const methods = useQuery(methodsQuery)
  const passkey = useMutation({ mutationFn: logInWithPasskey, onSuccess: onEntered })
  return (
    <div className={styles.ways}>
      <EntryHead title={texts.logIn}>{texts.to(location.host)}</EntryHead>
      <Notice />
      {passkey.error === null ? null : <Refusal error={passkey.error} />}
      {hasPasskeys() ? (
        <Button
          icon="passkey"
          size="lg"
          className={fitStyles.fullWidth}
          busy={passkey.isPending}
          onClick={() => passkey.mutate()}
        >
          {texts.withPasskey}
        </Button>
      ) : null}
      <Link {...buttonLook({ size: 'lg', className: fitStyles.fullWidth })} {...paths.loginSso(next)}>
        <Icon name="org" />
        <span>{texts.withSso}</span>
      </Link>
      {(methods.data?.oauth ?? []).map((provider) => (
        <a
          key={provider}
          {...buttonLook({ size: 'lg', className: fitStyles.fullWidth })}
          href={`/api/auth/oauth/${provider}/start`}
        >
          <ProviderIcon provider={provider} />
          <span>{texts.withProvider[provider]}</span>
        </a>
      ))}
      <Or />
      <PasswordForm {...rest} />
      {methods.data?.signup === 'open' ? (
        <Alternative>
          {texts.noAccount}{' '}
          <Link className={typeStyles.link} {...paths.signup()}>
            {texts.createOrg}
          </Link>
        </Alternative>
      ) : null}
    </div>
  )
}

function PasswordForm({ email, onEmail, onChallenge, onPassword }: Omit<LogInFormProps, 'onEntered'>) {
  const [password, setPassword] = useState('')
  const [missing, setMissing] = useState<'email' | 'password' | null>(null)
  const passwordField = useRef<HTMLInputElement>(null)
  const emailField = useRef<HTMLInputElement>(null)
  const logIn = useMutation({
    mutationFn: (given: Challenge) => call('POST /api/auth/login', { body: given }),
    onSuccess: (answer, given) => ('totp_required' in answer ? onChallenge(given) : onPassword(given)),
    // The password is the most likely mistake, so it gets the focus.
    onError: () => passwordField.current?.select(),
  })
  const submit = () => {
    if (logIn.isPending) return
    const empty = email.trim() === '' ? 'email' : password === '' ? 'password' : null
    setMissing(empty)
    if (empty === null) return logIn.mutate({ email: email.trim(), password })
    return (empty === 'email' ? emailField : passwordField).current?.focus()
  }
  const refusal = logIn.error === null ? undefined : errorSentence(logIn.error)
  return (
    <Form className={styles.form} onSubmit={submit}>
      <Field
        ref={emailField}
        label={texts.email}
        type="email"
        autoComplete="username"
        autoFocus={email === ''}
        value={email}
        error={missing === 'email' ? texts.missing.email : undefined}
        onChange={(event) => onEmail(event.target.value)}
      />
      <PasswordField
        ref={passwordField}
        label={texts.password}
        aside={
          <Link className={typeStyles.link} {...paths.forgot()}>
            {texts.forgot}
          </Link>
        }
        autoComplete="current-password"
        value={password}
        error={missing === 'password' ? texts.missing.password : refusal}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Wait key={logIn.submittedAt} error={logIn.error} />
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={logIn.isPending}>
        {texts.logIn}
      </Button>
    </Form>
  )
}

/** Why the visitor is here: an ended session, a failed sign-in elsewhere, a link that was used. */
function Notice() {
  const { error, ended, done } = route.useSearch()
  if (error !== undefined)
    return (
      <Note tone="red" icon="warn" role="alert">
        {texts.errors[error]}
      </Note>
    )
  if (ended !== undefined)
    return (
      <Note tone={ended === 'theft' ? 'red' : 'amber'} icon={ended === 'theft' ? 'warn' : 'info'} role="alert">
        {texts.ended[ended]}
      </Note>
    )
  if (done === undefined) return null
  return (
    <Note tone="green" icon="check" role="status">
      {texts.done[done]}
    </Note>
  )
}
