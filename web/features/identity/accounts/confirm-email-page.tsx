import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../../api/call.ts'
import { paths } from '../../../address/paths.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Form } from '../../../ui/form.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { EntryHead, Refusal } from './entry-parts.tsx'
import { isAboutLink, useLinkToken } from './link-token.ts'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const texts = accountsTexts.confirmEmailPage

/** Confirms a new e-mail address with the link of a mail. By a button, because programs open links of mails too. */
export function ConfirmEmailPage() {
  usePageTitle(null)
  const token = useLinkToken()
  const client = useQueryClient()
  const confirm = useMutation({
    mutationFn: (given: string) => call('POST /api/auth/confirm-email', { body: { token: given } }),
    onSuccess: () => client.invalidateQueries(),
  })
  const isSpent = token === null || (confirm.error !== null && isAboutLink(confirm.error))
  return (
    <EntryFrame>
      <title>{appTexts.titleOf(texts.title)}</title>
      {confirm.isSuccess || isSpent ? (
        <div className={styles.ways}>
          <EntryHead title={confirm.isSuccess ? texts.doneTitle : texts.spentTitle}>
            {confirm.isSuccess ? texts.done : texts.spent}
          </EntryHead>
          <Link {...buttonLook({ look: 'primary', size: 'lg', className: fitStyles.fullWidth })} {...paths.home()}>
            <span>{texts.next}</span>
          </Link>
        </div>
      ) : (
        <Form className={styles.form} onSubmit={() => (confirm.isPending ? undefined : confirm.mutate(token))}>
          <EntryHead title={texts.title}>{texts.lead}</EntryHead>
          {confirm.error === null ? null : <Refusal error={confirm.error} />}
          <Button type="submit" look="primary" size="lg" className={styles.submit} busy={confirm.isPending}>
            {texts.submit}
          </Button>
        </Form>
      )}
    </EntryFrame>
  )
}
