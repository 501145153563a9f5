import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { visitorQuery } from '../../../api/account-queries.ts'
import { call, type AnswerOf } from '../../../api/call.ts'
import { paths } from '../../../address/paths.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Form } from '../../../ui/form.tsx'
import { forgetChatToken, useChatToken } from './chat-token.ts'
import { EntryFrame } from './entry-frame.tsx'
import { EntryHead, Refusal } from './entry-parts.tsx'
import { isAboutLink } from './link-token.ts'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const texts = accountsTexts.chatLinkPage

/** Links a user of the chat to the user who is logged in, with the one-time link that only they received there. */
export function ChatLinkPage() {
  usePageTitle(null)
  const token = useChatToken()
  const visitor = useQuery(visitorQuery)
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(texts.title)}</title>
      {token === null ? (
        <Spent />
      ) : visitor.error !== null ? (
        <QueryError what={appTexts.yourAccount} error={visitor.error} onRetry={() => void visitor.refetch()} />
      ) : visitor.data === undefined ? null : visitor.data === null ? (
        <div className={styles.ways}>
          <EntryHead title={texts.title}>{texts.logInFirst}</EntryHead>
          <Link
            {...buttonLook({ look: 'primary', size: 'lg', className: fitStyles.fullWidth })}
            {...paths.login('/chat/link')}
          >
            <span>{accountsTexts.logIn}</span>
          </Link>
        </div>
      ) : (
        <Offer token={token} user={visitor.data.user} />
      )}
    </EntryFrame>
  )
}

function Offer({ token, user }: { token: string; user: AnswerOf<'GET /api/me'>['user'] }) {
  const offer = useQuery({
    queryKey: ['chat-link', token],
    queryFn: ({ signal }) => call('POST /api/integrations/chat/links/preview', { body: { token }, signal }),
    retry: false,
    gcTime: 0,
  })
  const confirm = useMutation({
    mutationFn: () => call('POST /api/integrations/chat/links', { body: { token } }),
    onSuccess: forgetChatToken,
  })
  if (confirm.data !== undefined)
    return (
      <div className={styles.ways}>
        <EntryHead title={texts.doneTitle}>{texts.done(confirm.data.chat_user_name)}</EntryHead>
        <Link {...buttonLook({ size: 'lg', className: fitStyles.fullWidth })} {...paths.security()}>
          <span>{texts.next}</span>
        </Link>
      </div>
    )
  const refused = offer.error ?? confirm.error
  if (refused !== null && isAboutLink(refused)) return <Spent />
  if (offer.error !== null)
    return <QueryError what={texts.title} error={offer.error} onRetry={() => void offer.refetch()} />
  if (offer.data === undefined) return null
  return (
    <Form className={styles.form} onSubmit={() => (confirm.isPending ? undefined : confirm.mutate())}>
      <EntryHead title={texts.title}>
        {texts.lead(offer.data.chat_user_name, offer.data.team_name, user.email)}
      </EntryHead>
      {confirm.error === null ? null : <Refusal error={confirm.error} />}
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={confirm.isPending}>
        {texts.submit}
      </Button>
    </Form>
  )
}

/** An unknown, used or old link. */
const Spent = () => <EntryHead title={texts.spentTitle}>{texts.spent}</EntryHead>
