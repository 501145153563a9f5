import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, call, type AnswerOf } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { meQuery } from '../../../api/queries.ts'
import { endSession } from '../../../api/session.ts'
import { paths } from '../../../address/paths.ts'
import { PasswordField } from '../../../forms/password-field.tsx'
import { useFormModel } from '../../../forms/form-model.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { useUnsaved } from '../../../forms/unsaved.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { PasswordDialog } from './confirm.tsx'
import { personalTexts } from './texts.ts'
import styles from './personal.module.css'

const texts = personalTexts.profile

type User = AnswerOf<'GET /api/me'>['user']

/** The user's name and address, and the end of the account. */
export function ProfilePage() {
  const me = useQuery(meQuery)
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} />
      {me.data === undefined ? null : (
        <>
          <NameCard user={me.data.user} />
          <EmailCard user={me.data.user} />
          <RemovalCard user={me.data.user} />
        </>
      )}
    </>
  )
}

function NameCard({ user }: { user: User }) {
  const save = useChange({
    send: (sent: string) => call('PATCH /api/me', { body: { name: sent.trim() } }),
    touches: () => [['members']],
    settle: (client, answer) => client.setQueryData(meQuery.queryKey, answer),
    said: () => texts.nameSaved,
    failed: null,
  })
  const { draft, change, tried, error, form } = useFormModel({
    stored: user.name,
    save,
    draftOf: (answer) => answer.user.name,
    isSame: (name, stored) => name.trim() === stored,
    isWhole: (name) => name.trim() !== '',
  })
  const { formRef, ...foot } = form
  return (
    <Card title={texts.name}>
      <Form formRef={formRef} onSubmit={foot.onSave}>
        <div className={styles.narrowForm}>
          <Field
            label={texts.name}
            hint={texts.nameHint}
            autoComplete="name"
            maxLength={120}
            value={draft}
            error={tried && draft.trim() === '' ? texts.nameMissing : error === null ? undefined : errorSentence(error)}
            onChange={(event) => change(event.target.value)}
          />
        </div>
        <SaveFoot {...foot} save={texts.save} />
      </Form>
    </Card>
  )
}

function EmailCard({ user }: { user: User }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const change = useChange({
    send: (to: string) =>
      call('POST /api/auth/change-email', { body: { email: to, ...(user.has_password ? { password } : {}) } }),
    touches: () => [],
    failed: null,
  })
  useUnsaved(!change.isSuccess && (email !== '' || password !== ''))
  const isMissing = email.trim() === ''
  const isPasswordMissing = user.has_password && password === ''
  const submit = (form: HTMLFormElement) => {
    if (change.isPending) return
    setTried(true)
    if (isMissing || isPasswordMissing) return focusFirstInvalid(form)
    return change.mutate(email.trim(), {
      onSuccess: () => {
        setPassword('')
        setTried(false)
      },
      onError: () => focusFirstInvalid(form),
    })
  }
  const refusal = change.error === null ? undefined : errorSentence(change.error)
  const isAboutPassword = refusal !== undefined && /^password/i.test(refusal)
  const isAboutEmail =
    change.error instanceof ApiError && (change.error.status === 409 || /^email/i.test(change.error.message))
  return (
    <Card title={texts.email} header={<Minor>{user.email}</Minor>}>
      <Form className={styles.narrowForm} onSubmit={submit}>
        {change.isSuccess ? (
          <Note tone="green" icon="mail" role="status">
            {texts.sent(change.variables)}
          </Note>
        ) : null}
        {refusal === undefined || isAboutPassword || isAboutEmail ? null : (
          <Note tone="red" icon="warn" role="alert">
            {refusal}
          </Note>
        )}
        <Field
          label={texts.newEmail}
          hint={texts.emailMore}
          type="email"
          autoComplete="email"
          value={email}
          error={tried && isMissing ? texts.emailMissing : isAboutEmail ? refusal : undefined}
          onChange={(event) => {
            setEmail(event.target.value)
            if (change.isSuccess) change.reset()
          }}
        />
        {user.has_password ? (
          <PasswordField
            label={personalTexts.password}
            autoComplete="current-password"
            value={password}
            error={tried && isPasswordMissing ? personalTexts.passwordMissing : isAboutPassword ? refusal : undefined}
            onChange={(event) => setPassword(event.target.value)}
          />
        ) : null}
        <Toolbar>
          <Button type="submit" busy={change.isPending}>
            {texts.sendLink}
          </Button>
        </Toolbar>
      </Form>
    </Card>
  )
}

function RemovalCard({ user }: { user: User }) {
  const [asks, setAsks] = useState(false)
  const navigate = useNavigate()
  return (
    <Card
      title={texts.remove}
      header={
        <>
          <Spacer />
          <Button size="sm" look="danger" onClick={() => setAsks(true)}>
            {texts.remove}
          </Button>
        </>
      }
    >
      <p className={styles.text}>{texts.removeMore}</p>
      {asks ? (
        <PasswordDialog
          title={texts.removeTitle}
          text={texts.removeText}
          submit={texts.remove}
          danger
          needsPassword={user.has_password}
          onClose={() => setAsks(false)}
          onSend={async (password) => {
            await call('DELETE /api/me', { body: user.has_password ? { password } : {} })
            await navigate({ ...paths.loginDone('deleted'), replace: true })
            endSession({ left: true, reason: null })
          }}
        />
      ) : null}
    </Card>
  )
}
