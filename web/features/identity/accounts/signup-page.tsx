import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { methodsQuery } from '../../../api/account-queries.ts'
import { ApiError, call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { EntryFrame } from './entry-frame.tsx'
import { Alternative, EntryHead, Refusal } from './entry-parts.tsx'
import { PasswordField, ratePassword } from '../../../forms/password-field.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { paths } from '../../../address/paths.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { accountsTexts } from './texts.ts'
import { appTexts } from '../../../app/texts.ts'
import fitStyles from '../../../ui/fit.module.css'
import styles from './accounts.module.css'
import typeStyles from '../../../ui/type.module.css'

const EMPTY = { name: '', org: '', email: '', password: '' }
type Fields = typeof EMPTY
type Errors = Partial<Record<keyof Fields, string>>

/** Errors that the form finds; the server reports all others. */
function problemsOf(fields: Fields): Errors {
  const strength = ratePassword(fields.password)
  return {
    ...(fields.name.trim() === '' ? { name: accountsTexts.missing.name } : {}),
    ...(fields.org.trim() === '' ? { org: accountsTexts.missing.org } : {}),
    ...(fields.email.trim() === '' ? { email: accountsTexts.missing.email } : {}),
    ...(strength.enough ? {} : { password: strength.text }),
  }
}

/** The field of an error: a taken e-mail address is 409, a validation error begins with the name of the field. */
function fieldOf(error: ApiError): keyof Fields | null {
  if (error.status === 409) return 'email'
  const name = /^(name|org|email|password)\b/i.exec(error.message)?.[1]?.toLowerCase()
  return name === 'name' || name === 'org' || name === 'email' || name === 'password' ? name : null
}

export function SignupPage() {
  usePageTitle(null)
  const methods = useQuery(methodsQuery).data
  const mode = methods === undefined || methods.first ? 'open' : methods.signup
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(accountsTexts.createOrg)}</title>
      {mode === 'open' ? (
        <SignupForm />
      ) : (
        <div className={styles.ways}>
          <EntryHead title={accountsTexts.createOrg}>{accountsTexts.signupClosed[mode]}</EntryHead>
          <Link {...buttonLook({ look: 'primary', size: 'lg', className: fitStyles.fullWidth })} {...paths.login()}>
            <span>{accountsTexts.logIn}</span>
          </Link>
        </div>
      )}
    </EntryFrame>
  )
}

function SignupForm() {
  const [fields, setFields] = useState(EMPTY)
  const [problems, setProblems] = useState<Errors>({})
  const navigate = useNavigate()
  const client = useQueryClient()
  const strength = ratePassword(fields.password)

  const signUp = useMutation({
    mutationFn: async () => {
      const email = fields.email.trim()
      const made = await call('POST /api/auth/signup', {
        body: { name: fields.name.trim(), org: fields.org.trim(), email, password: fields.password },
      })
      await call('POST /api/auth/login', { body: { email, password: fields.password } })
      return made
    },
    onSuccess: ({ warning }) => {
      client.clear()
      if (warning !== undefined) addToast({ text: warning, icon: 'lock' })
      return navigate(paths.onboarding())
    },
  })

  const submit = (form: HTMLFormElement) => {
    if (signUp.isPending) return
    const found = problemsOf(fields)
    setProblems(found)
    if (Object.keys(found).length > 0) focusFirstInvalid(form)
    else signUp.mutate(undefined, { onError: () => focusFirstInvalid(form) })
  }
  const change = (field: keyof Fields) => (event: { target: { value: string } }) => {
    setFields((before) => ({ ...before, [field]: event.target.value }))
    setProblems((before) => ({ ...before, [field]: undefined }))
  }

  const refusal = signUp.error
  const refused = refusal instanceof ApiError ? fieldOf(refusal) : null
  const errorOf = (field: keyof Fields) =>
    problems[field] ?? (refusal !== null && refused === field ? errorSentence(refusal) : undefined)
  return (
    <Form className={styles.form} onSubmit={submit}>
      <EntryHead title={accountsTexts.createOrg}>{accountsTexts.createOrgMore}</EntryHead>
      <Field
        label={accountsTexts.yourName}
        autoComplete="name"
        autoFocus
        value={fields.name}
        error={errorOf('name')}
        onChange={change('name')}
      />
      <Field
        label={accountsTexts.organisation}
        autoComplete="organization"
        value={fields.org}
        error={errorOf('org')}
        onChange={change('org')}
      />
      <Field
        label={accountsTexts.email}
        type="email"
        autoComplete="username"
        value={fields.email}
        error={errorOf('email')}
        onChange={change('email')}
      />
      <PasswordField
        label={accountsTexts.password}
        autoComplete="new-password"
        value={fields.password}
        hint={strength.text}
        error={errorOf('password')}
        onChange={change('password')}
      />
      {refusal !== null && refused === null ? <Refusal key={signUp.submittedAt} error={refusal} /> : null}
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={signUp.isPending}>
        {accountsTexts.create}
      </Button>
      <Alternative>
        {accountsTexts.haveAccount}{' '}
        <Link className={typeStyles.link} {...paths.login()}>
          {accountsTexts.logIn}
        </Link>
      </Alternative>
    </Form>
  )
}
