import { SettingRow } from '../../../frames/setting-row.tsx'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SignInError } from '#shared/sign-in-errors.ts'
import { linkedAccountsQuery, type LinkedAccount } from '../../../api/account-queries.ts'
import { buildAddress, call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { ProviderIcon, type Provider } from '../../../frames/provider-icon.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { bodyWithPassword, useConfirmation } from './confirm.tsx'
import { personalTexts } from './texts.ts'
import styles from './personal.module.css'

const texts = personalTexts.linked

type LinkedCardProps = { error: SignInError | undefined; linked: Provider | undefined }

/** The user's accounts elsewhere; absent where the operator configured none and none is linked. */
export function LinkedCard({ error, linked: justLinked }: LinkedCardProps) {
  const linked = useQuery(linkedAccountsQuery)
  return (
    <PageQuery query={linked} what={texts.what} title={texts.title} waiting={null}>
      {({ items }) => (
        <Linked
          items={items.filter((one) => one.available || one.linked_at !== null)}
          error={error}
          linked={justLinked}
        />
      )}
    </PageQuery>
  )
}

function Linked({ items, error, linked: justLinked }: LinkedCardProps & { items: readonly LinkedAccount[] }) {
  if (items.length === 0) return null
  return (
    <Card title={texts.title} header={<Minor>{texts.more}</Minor>}>
      {justLinked === undefined ? null : (
        <div className={styles.inset}>
          <Note tone="green" icon="check" role="status">
            {texts.justLinked(texts.names[justLinked])}
          </Note>
        </div>
      )}
      {error === undefined ? null : (
        <div className={styles.inset}>
          <Note tone="red" icon="warn" role="alert">
            {linkErrorOf(error)}
          </Note>
        </div>
      )}
      <ul>
        {items.map((one) => (
          <LinkedRow key={one.provider} account={one} />
        ))}
      </ul>
    </Card>
  )
}

const linkErrors: Partial<Record<SignInError, string>> = personalTexts.linkErrors
const linkErrorOf = (error: SignInError): string => linkErrors[error] ?? personalTexts.linkFailed

function LinkedRow({ account }: { account: LinkedAccount }) {
  const [asks, setAsks] = useState(false)
  const { provider, available, linked_at, login } = account
  const name = texts.names[provider]
  const { confirmed, dialog } = useConfirmation()
  const unlink = useChange({
    send: () =>
      confirmed(async (password) => {
        await call('DELETE /api/auth/oauth/:provider', { params: { provider }, body: bodyWithPassword(password) })
        return true
      }),
    same: () => provider,
    touches: () => [linkedAccountsQuery.queryKey],
    failed: texts.notUnlinked,
  })
  const close = () => setAsks(false)
  const send = () =>
    unlink.mutate(undefined, {
      onSuccess: (isUnlinked) => {
        if (isUnlinked !== null) addToast({ text: texts.unlinked(name), tone: 'good' })
      },
      onSettled: close,
    })
  return (
    <SettingRow
      start={<ProviderIcon provider={provider} />}
      title={name}
      more={
        <>
          {linked_at === null
            ? texts.notLinked
            : login === null
              ? texts.linkedOn(formatDay(linked_at))
              : texts.linkedAs(login, formatDay(linked_at))}
          {available ? null : `, ${texts.unavailable}`}
        </>
      }
    >
      {linked_at === null ? (
        <a
          {...buttonLook({ size: 'sm' })}
          href={buildAddress('/api/auth/oauth/:provider/start', { provider }, { link: '1' })}
        >
          <span>{texts.link}</span>
        </a>
      ) : (
        <Button size="sm" look="danger" onClick={() => setAsks(true)}>
          {texts.unlink}
        </Button>
      )}
      {asks ? (
        <ConfirmDialog
          title={texts.unlinkTitle(name)}
          text={texts.unlinkText(name)}
          submit={texts.unlink}
          isBusy={unlink.isPending}
          onConfirm={send}
          onClose={close}
        />
      ) : null}
      {dialog}
    </SettingRow>
  )
}
