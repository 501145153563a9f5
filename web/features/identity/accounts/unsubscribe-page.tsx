import { useMutation } from '@tanstack/react-query'
import { call, type AnswerOf } from '../../../api/call.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { EntryFrame } from './entry-frame.tsx'
import { EntryHead, Refusal } from './entry-parts.tsx'
import { isAboutLink, useLinkToken } from './link-token.ts'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const texts = accountsTexts.unsubscribePage

/** In the place of the rule in a link of a digest. */
const DIGEST = '0'.repeat(32)

type Scope = AnswerOf<'POST /api/notifications/unsubscribe'>['scope']

/** Ends mails about alerts with the link of a mail, without a log-in. By a button, because programs open links of mails too. */
export function UnsubscribePage() {
  usePageTitle(null)
  const token = useLinkToken()
  const change = useMutation({
    mutationFn: (scope: Scope) => call('POST /api/notifications/unsubscribe', { body: { token: token ?? '', scope } }),
  })
  const isSpent = token === null || (change.error !== null && isAboutLink(change.error))
  const button = (scope: Scope, text: string, look: 'primary' | 'plain' = 'plain') => (
    <Button
      look={look}
      size="lg"
      className={fitStyles.fullWidth}
      busy={change.isPending && change.variables === scope}
      onClick={() => (change.isPending ? undefined : change.mutate(scope))}
    >
      {text}
    </Button>
  )
  const { scope, rule_name: rule } = change.data ?? {}
  const isDigest = token?.split('.')[1] === DIGEST
  const said = isDigest ? texts.digest : texts
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(texts.title)}</title>
      {isSpent ? (
        <EntryHead title={texts.spentTitle}>{texts.spent}</EntryHead>
      ) : (
        <div className={styles.ways}>
          <EntryHead title={scope === undefined ? texts.title : texts.doneTitles[scope]}>
            {scope === undefined ? said.lead : isDigest ? texts.digest.done[scope] : texts.done[scope](rule ?? null)}
          </EntryHead>
          {change.error === null ? null : <Refusal error={change.error} />}
          {scope === undefined || scope === 'none'
            ? button('rule', isDigest ? texts.digest.stop : texts.rule, 'primary')
            : null}
          {scope === 'all' || isDigest ? null : button('all', texts.all)}
          {scope === undefined || scope === 'none' ? null : button('none', texts.undo)}
        </div>
      )}
    </EntryFrame>
  )
}
