import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { PasswordField } from '../../../forms/password-field.tsx'
import { Button } from '../../../ui/button.tsx'
import { Form } from '../../../ui/form.tsx'
import { CodeStep } from './code-step.tsx'
import { Back, EntryHead, Wait } from './entry-parts.tsx'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const texts = accountsTexts.link

type LinkStepProps = { onEntered: () => void; onBack: () => void }

/** After single sign-on as a user who has a password here: it links both, once. */
export function LinkStep({ onEntered, onBack }: LinkStepProps) {
  const [password, setPassword] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const [needsCode, setNeedsCode] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const link = useMutation({
    mutationFn: () => call('POST /api/auth/sso/link', { body: { password } }),
    onSuccess: (answer) => ('totp_required' in answer ? setNeedsCode(true) : onEntered()),
    onError: () => field.current?.select(),
  })
  const submit = () => {
    if (link.isPending) return
    setIsMissing(password === '')
    if (password === '') field.current?.focus()
    else link.mutate()
  }
  if (needsCode)
    return (
      <CodeStep
        email={null}
        send={async (code) => {
          await call('POST /api/auth/sso/link', { body: { password, totpToken: code } })
        }}
        onEntered={onEntered}
        onBack={onBack}
      />
    )
  return (
    <Form className={styles.form} onSubmit={submit}>
      <Back onBack={onBack} />
      <EntryHead title={texts.title}>{texts.lead}</EntryHead>
      <PasswordField
        ref={field}
        label={accountsTexts.password}
        autoComplete="current-password"
        autoFocus
        value={password}
        error={isMissing ? accountsTexts.missing.password : link.error === null ? undefined : errorSentence(link.error)}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Wait key={link.submittedAt} error={link.error} />
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={link.isPending}>
        {texts.submit}
      </Button>
    </Form>
  )
}
