import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { errorSentence } from '../../../api/change.ts'
import { hasPasskeys, logInWithPasskey } from '../../../api/passkeys.ts'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { TextButton } from '../../../ui/text-button.tsx'
import { CODE_LENGTH, CodeField } from './code-field.tsx'
import { Alternative, Back, EntryHead, Refusal, Wait } from './entry-parts.tsx'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = accountsTexts.code

type CodeStepProps = {
  /** Whose code; null after a sign-in elsewhere. */
  email: string | null
  /** @throws ApiError for a wrong code */
  send: (code: string) => Promise<void>
  onEntered: () => void
  onBack: () => void
}

/** The second step: a code of the authenticator app, or a backup code. */
export function CodeStep({ email, send, onEntered, onBack }: CodeStepProps) {
  const [kind, setKind] = useState<'app' | 'backup'>('app')
  const [code, setCode] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const check = useMutation({
    mutationFn: send,
    onSuccess: onEntered,
    onError: () => {
      if (kind === 'app') setCode('')
      field.current?.focus()
    },
  })
  const passkey = useMutation({ mutationFn: logInWithPasskey, onSuccess: onEntered })

  const submit = (given: string) => {
    if (check.isPending) return
    const isComplete = kind === 'app' ? given.length === CODE_LENGTH : given.trim() !== ''
    setIsMissing(!isComplete)
    if (isComplete) check.mutate(given.trim())
    else field.current?.focus()
  }
  const change = (given: string) => {
    setCode(given)
    setIsMissing(false)
    if (check.error !== null) check.reset()
    if (kind === 'app' && given.length === CODE_LENGTH && given !== code) submit(given)
  }
  const choose = (other: 'app' | 'backup') => {
    setKind(other)
    setCode('')
    setIsMissing(false)
    check.reset()
  }
  const error = isMissing ? texts.missing[kind] : check.error === null ? undefined : errorSentence(check.error)
  return (
    <Form className={styles.form} onSubmit={() => submit(code)}>
      <Back onBack={onBack} />
      <EntryHead title={texts.title[kind]}>{email === null ? texts.lead[kind] : texts.leadFor[kind](email)}</EntryHead>
      {passkey.error === null ? null : <Refusal error={passkey.error} />}
      {kind === 'app' ? (
        <CodeField ref={field} label={texts.label.app} value={code} error={error} onChange={change} />
      ) : (
        <Field
          key="backup"
          ref={field}
          label={texts.label.backup}
          className={typeStyles.mono}
          autoComplete="off"
          autoCapitalize="characters"
          autoFocus
          spellCheck={false}
          value={code}
          error={error}
          onChange={(event) => change(event.target.value)}
        />
      )}
      <Wait key={check.submittedAt} error={check.error} />
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={check.isPending}>
        {accountsTexts.logIn}
      </Button>
      <Alternative>
        <TextButton className={typeStyles.link} onClick={() => choose(kind === 'app' ? 'backup' : 'app')}>
          {texts.other[kind]}
        </TextButton>
        {hasPasskeys() ? (
          <>
            {' '}
            {accountsTexts.or}{' '}
            <TextButton className={typeStyles.link} onClick={() => passkey.mutate()}>
              {texts.passkey}
            </TextButton>
          </>
        ) : null}
      </Alternative>
    </Form>
  )
}
