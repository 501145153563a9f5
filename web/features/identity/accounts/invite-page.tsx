import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { visitorQuery } from '../../../api/account-queries.ts'
import { call, type AnswerOf } from '../../../api/call.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { bothQueries, PageQuery } from '../../../frames/page-query.tsx'
import { appTexts } from '../../../app/texts.ts'
import { CodeStep } from './code-step.tsx'
import { useEnter } from './enter.ts'
import { EntryFrame } from './entry-frame.tsx'
import { EntryHead } from './entry-parts.tsx'
import { JoinAsVisitor, JoinWithSession, type Invitation } from './join-forms.tsx'
import { isAboutLink, useLinkToken } from './link-token.ts'
import { accountsTexts } from './texts.ts'

const texts = accountsTexts.invitePage

/** Accepts an invitation: with a new account, with the password of an existing one, or while logged in. */
export function InvitePage() {
  usePageTitle(null)
  const token = useLinkToken()
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(texts.title)}</title>
      {token === null ? <Spent /> : <InviteOfToken token={token} />}
    </EntryFrame>
  )
}

function InviteOfToken({ token }: { token: string }) {
  const invite = useQuery({
    queryKey: ['invite', token],
    queryFn: ({ signal }) => call('POST /api/auth/read-invite', { body: { token }, signal }),
    retry: false,
    gcTime: 0,
  })
  const visitor = useQuery(visitorQuery)
  const error = invite.error ?? visitor.error
  if (error !== null && isAboutLink(error)) return <Spent />
  return (
    <PageQuery query={bothQueries(invite, visitor)} what={texts.title} inCard waiting={null}>
      {([invitation, user]) => <InviteForms token={token} invitation={invitation} visitor={user} />}
    </PageQuery>
  )
}

type InviteFormsProps = { token: string; invitation: Invitation; visitor: AnswerOf<'GET /api/me'> | null }

function InviteForms({ token, invitation, visitor }: InviteFormsProps) {
  const [isSpent, setIsSpent] = useState(false)
  const [password, setPassword] = useState<string | null>(null)
  const enter = useEnter(undefined)
  const { email, org } = invitation

  /** A log-in continues in the organisation used last; the invitation is for this one. */
  const logIn = async (given: string, totpToken?: string): Promise<'entered' | 'code'> => {
    const body = { email, password: given, ...(totpToken === undefined ? {} : { totpToken }) }
    const answer = await call('POST /api/auth/login', { body })
    if ('totp_required' in answer) return 'code'
    if (answer.org !== org.slug) await call('POST /api/auth/switch-org', { body: { org: org.slug } })
    return 'entered'
  }

  if (isSpent) return <Spent />
  if (password !== null)
    return (
      <CodeStep
        email={email}
        send={async (code) => void (await logIn(password, code))}
        onEntered={enter}
        onBack={() => setPassword(null)}
      />
    )
  const shared = { token, invitation, onSpent: () => setIsSpent(true), onEntered: enter }
  return visitor === null ? (
    <JoinAsVisitor {...shared} logIn={logIn} onCode={setPassword} />
  ) : (
    <JoinWithSession {...shared} user={visitor.user} />
  )
}

/** An unknown, used or old invitation. */
const Spent = () => <EntryHead title={texts.spentTitle}>{texts.spent}</EntryHead>
