import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { visitorQuery } from '../../../api/account-queries.ts'
import { call, type AnswerOf } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { paths } from '../../../address/paths.ts'
import { PasswordField, ratePassword } from '../../../forms/password-field.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { Alternative, EntryHead, Refusal } from './entry-parts.tsx'
import { isAboutLink } from './link-token.ts'
import { NewPassword } from './new-password.tsx'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = accountsTexts.invitePage

export type Invitation = AnswerOf<'POST /api/auth/read-invite'>

type JoinProps = { token: string; invitation: Invitation; onSpent: () => void; onEntered: () => void }

function InviteHead({ invitation: { org, email, role, invited_by, expires_at } }: { invitation: Invitation }) {
  const lead =
    invited_by === null
      ? texts.leadAnonymous(email, texts.roles[role])
      : texts.lead(invited_by, email, texts.roles[role])
  return (
    <EntryHead title={texts.join(org.name)}>
      {lead} {texts.ends(formatDay(expires_at))}
    </EntryHead>
  )
}

type JoinAsVisitorProps = JoinProps & {
  logIn: (password: string) => Promise<'entered' | 'code'>
  /** The right password needs a code too. */
  onCode: (password: string) => void
}

/** Without a session: a new account chooses a password, an existing one sends its own. */
export function JoinAsVisitor({ token, invitation, logIn, onCode, onSpent, onEntered }: JoinAsVisitorProps) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const isNew = !invitation.has_account
  const accept = useMutation({
    mutationFn: async () => {
      await call('POST /api/auth/accept-invite', {
        body: { token, password, ...(isNew ? { name: name.trim() } : {}) },
      })
      return logIn(password)
    },
    onSuccess: (outcome) => {
      if (outcome === 'code') return onCode(password)
      addToast({ text: texts.joined(invitation.org.name), tone: 'good' })
      return onEntered()
    },
    onError: (error) => (isAboutLink(error) ? onSpent() : undefined),
  })
  const isNameMissing = isNew && name.trim() === ''
  const isPasswordMissing = isNew ? !ratePassword(password).enough : password === ''
  const submit = (form: HTMLFormElement) => {
    if (accept.isPending) return
    setTried(true)
    if (isNameMissing || isPasswordMissing) focusFirstInvalid(form)
    else accept.mutate(undefined, { onError: () => focusFirstInvalid(form) })
  }
  const refusal = accept.error === null ? undefined : errorSentence(accept.error)
  const isAboutField = refusal !== undefined && (/^password/i.test(refusal) || /password/i.test(refusal))
  return (
    <Form className={styles.form} onSubmit={submit}>
      <InviteHead invitation={invitation} />
      {accept.error !== null && !isAboutField ? <Refusal error={accept.error} /> : null}
      {/* For the browser's password manager. */}
      <input type="hidden" autoComplete="username" value={invitation.email} readOnly />
      {isNew ? (
        <>
          <Field
            label={accountsTexts.yourName}
            autoComplete="name"
            autoFocus
            maxLength={120}
            value={name}
            error={tried && isNameMissing ? accountsTexts.missing.name : undefined}
            onChange={(event) => setName(event.target.value)}
          />
          <NewPassword
            label={texts.choosePassword}
            value={password}
            tried={tried}
            refusal={isAboutField ? refusal : undefined}
            onChange={setPassword}
          />
        </>
      ) : (
        <PasswordField
          label={texts.yourPassword}
          aside={
            <Link className={typeStyles.link} {...paths.forgot()}>
              {accountsTexts.forgot}
            </Link>
          }
          autoComplete="current-password"
          autoFocus
          value={password}
          error={tried && isPasswordMissing ? accountsTexts.missing.password : isAboutField ? refusal : undefined}
          onChange={(event) => setPassword(event.target.value)}
        />
      )}
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={accept.isPending}>
        {texts.submit}
      </Button>
      {isNew ? null : (
        <Alternative>
          {texts.otherWay}{' '}
          <Link className={typeStyles.link} {...paths.login('/invite')} state={{ linkToken: token }}>
            {texts.logInFirst}
          </Link>
        </Alternative>
      )}
    </Form>
  )
}

type JoinWithSessionProps = JoinProps & { user: AnswerOf<'GET /api/me'>['user'] }

/** While logged in: no password is needed, if the invitation is for this user. */
export function JoinWithSession({ token, invitation, user, onSpent, onEntered }: JoinWithSessionProps) {
  const client = useQueryClient()
  const isOwn = user.email.toLowerCase() === invitation.email.toLowerCase()
  const accept = useMutation({
    mutationFn: async () => {
      await call('POST /api/auth/accept-invite', { body: { token } })
      await call('POST /api/auth/switch-org', { body: { org: invitation.org.slug } })
    },
    onSuccess: () => {
      addToast({ text: texts.joined(invitation.org.name), tone: 'good' })
      onEntered()
    },
    onError: (error) => (isAboutLink(error) ? onSpent() : undefined),
  })
  const leave = useMutation({
    mutationFn: () => call('POST /api/auth/logout'),
    onSuccess: () => client.resetQueries({ queryKey: visitorQuery.queryKey }),
  })
  const act = isOwn ? accept : leave
  return (
    <Form className={styles.form} onSubmit={() => (act.isPending ? undefined : act.mutate())}>
      <InviteHead invitation={invitation} />
      {act.error === null ? null : <Refusal error={act.error} />}
      <Note tone={isOwn ? 'plain' : 'amber'} icon={isOwn ? 'user' : 'warn'}>
        {isOwn ? texts.loggedInAs(user.email) : texts.otherUser(user.email)}
      </Note>
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={act.isPending}>
        {isOwn ? texts.submit : texts.logOut}
      </Button>
    </Form>
  )
}
