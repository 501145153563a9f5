import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { paths } from '../../../address/paths.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { ratePassword } from '../../../forms/password-field.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Form } from '../../../ui/form.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { EntryHead, Refusal } from './entry-parts.tsx'
import { isAboutLink, useLinkToken } from './link-token.ts'
import { NewPassword } from './new-password.tsx'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const texts = accountsTexts.resetPage

/** Sets a new password with the link of a mail. */
export function ResetPage() {
  usePageTitle(null)
  const token = useLinkToken()
  const [isSpent, setIsSpent] = useState(false)
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(texts.title)}</title>
      {token === null || isSpent ? (
        <div className={styles.ways}>
          <EntryHead title={texts.spentTitle}>{texts.spent}</EntryHead>
          <Link {...buttonLook({ look: 'primary', size: 'lg', className: fitStyles.fullWidth })} {...paths.forgot()}>
            <span>{texts.newLink}</span>
          </Link>
        </div>
      ) : (
        <ResetForm token={token} onSpent={() => setIsSpent(true)} />
      )}
    </EntryFrame>
  )
}

function ResetForm({ token, onSpent }: { token: string; onSpent: () => void }) {
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const reset = useMutation({
    mutationFn: () => call('POST /api/auth/reset-password', { body: { token, password } }),
    onSuccess: ({ warning }) => {
      if (warning !== undefined) addToast({ text: warning, icon: 'lock' })
      return navigate({ ...paths.loginDone('reset'), replace: true })
    },
    onError: (error) => (isAboutLink(error) ? onSpent() : field.current?.select()),
  })
  const submit = () => {
    if (reset.isPending) return
    setTried(true)
    if (ratePassword(password).enough) reset.mutate()
    else field.current?.focus()
  }
  const isRefused = reset.error !== null
  const isAboutPassword = isRefused && /^password/i.test(reset.error.message)
  return (
    <Form className={styles.form} onSubmit={submit}>
      <EntryHead title={texts.title}>{texts.lead}</EntryHead>
      {isRefused && !isAboutPassword ? <Refusal error={reset.error} /> : null}
      <NewPassword
        ref={field}
        label={texts.password}
        autoFocus
        value={password}
        tried={tried}
        refusal={isAboutPassword ? errorSentence(reset.error) : undefined}
        onChange={setPassword}
      />
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={reset.isPending}>
        {texts.submit}
      </Button>
    </Form>
  )
}
