import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { appTexts } from '../../../app/texts.ts'
import { addToast } from '../../../ui/toasts.tsx'
import { CodeStep } from './code-step.tsx'
import { useEnter } from './enter.ts'
import { EntryFrame } from './entry-frame.tsx'
import { LinkStep } from './link-step.tsx'
import { LogInForm, type Challenge } from './log-in-form.tsx'
import { SsoStep } from './sso-step.tsx'
import { accountsTexts } from './texts.ts'

const route = getRouteApi('/login')

/** Log in: one address, whose form is replaced by the second step. */
export function LoginPage() {
  usePageTitle(null)
  const { next, step, error } = route.useSearch()
  const navigate = route.useNavigate()
  const enter = useEnter(next)
  const [email, setEmail] = useState('')
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  const toForm = () => {
    setChallenge(null)
    if (step !== undefined) void navigate({ search: { next }, replace: true })
  }
  /** After a sign-in with an account that is not linked, the password links it. */
  const enterWith = async ({ password }: Challenge) => {
    if (error === 'not_linked') await linkAccount(password)
    enter()
  }
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(accountsTexts.logIn)}</title>
      {challenge !== null ? (
        <CodeStep
          email={challenge.email}
          send={async (code) => {
            await call('POST /api/auth/login', { body: { ...challenge, totpToken: code } })
          }}
          onEntered={() => void enterWith(challenge)}
          onBack={toForm}
        />
      ) : step === 'code' ? (
        <CodeStep
          email={null}
          send={async (code) => {
            await call('POST /api/auth/2fa/continue', { body: { token: code } })
          }}
          onEntered={enter}
          onBack={toForm}
        />
      ) : step === 'link' ? (
        <LinkStep onEntered={enter} onBack={toForm} />
      ) : step === 'sso' ? (
        <SsoStep />
      ) : (
        <LogInForm
          email={email}
          onEmail={setEmail}
          onChallenge={setChallenge}
          onPassword={(given) => void enterWith(given)}
          onEntered={enter}
        />
      )}
    </EntryFrame>
  )
}

async function linkAccount(password: string): Promise<void> {
  try {
    await call('POST /api/auth/oauth/link', { body: { password } })
    addToast({ text: accountsTexts.link.linked, tone: 'good' })
  } catch {
    // The log-in itself succeeded.
    addToast({ text: accountsTexts.link.notLinked, tone: 'bad' })
  }
}
