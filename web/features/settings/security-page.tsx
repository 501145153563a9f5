import { useMutation } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { ApiError, call } from '../../api/call.ts'
import { reasonOf } from '../../api/change.ts'
import { PasswordField, strengthOf } from '../../common/password-field.tsx'
import { SettingsHead } from '../../common/settings-frame.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { focusFirstInvalid } from '../../ui/field.tsx'
import { Stack, Toolbar } from '../../ui/stack.tsx'
import { Minor } from '../../ui/text.tsx'
import { addToast } from '../../ui/toasts.tsx'
import { settingsTexts } from './texts.ts'
import settingsStyles from '../../common/settings.module.css'
import styles from './security-page.module.css'

const texts = settingsTexts.securityPage

export function SecurityPage() {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [tried, setTried] = useState(false)
  const strength = strengthOf(next)
  const change = useMutation({
    mutationFn: () => call('POST /api/auth/change-password', { body: { currentPassword: current, newPassword: next } }),
    onSuccess: ({ warning }) => {
      setCurrent('')
      setNext('')
      setTried(false)
      addToast({ text: texts.changed, tone: 'good', icon: 'lock' })
      if (warning !== undefined) addToast({ text: warning, icon: 'info' })
    },
  })
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    setTried(true)
    if (change.isPending) return
    const form = event.currentTarget
    if (current === '' || !strength.enough) focusFirstInvalid(form)
    else change.mutate(undefined, { onError: () => focusFirstInvalid(form) })
  }
  const refusal = change.error
  const aboutNew = refusal instanceof ApiError && /^newPassword/i.test(refusal.message)
  const sentence = refusal === null ? undefined : reasonOf(refusal)
  return (
    <>
      <SettingsHead title={settingsTexts.me.security} of={null} lead={texts.lead} />
      <Card as="form" onSubmit={submit} noValidate title={texts.password} header={<Minor>{texts.passwordMore}</Minor>}>
        <Stack className={`${settingsStyles.body} ${styles.narrow}`}>
          <PasswordField
            label={texts.current}
            autoComplete="current-password"
            value={current}
            error={tried && current === '' ? texts.missing : aboutNew ? undefined : sentence}
            onChange={(event) => setCurrent(event.target.value)}
          />
          <PasswordField
            label={texts.next}
            autoComplete="new-password"
            value={next}
            hint={strength.text}
            error={tried && !strength.enough ? strength.text : aboutNew ? sentence : undefined}
            onChange={(event) => setNext(event.target.value)}
          />
          <Toolbar>
            <Button type="submit" look="primary" busy={change.isPending}>
              {texts.change}
            </Button>
          </Toolbar>
        </Stack>
      </Card>
    </>
  )
}
