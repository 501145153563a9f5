import { SettingRow } from '../../../frames/setting-row.tsx'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { passkeysQuery, type Passkey } from '../../../api/account-queries.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { addPasskey, hasPasskeys } from '../../../api/passkeys.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { formatDay } from '../../../ui/format.ts'
import { bodyWithPassword, useConfirmation } from './confirm.tsx'
import { NameDialog } from './name-dialog.tsx'
import { personalTexts } from './texts.ts'
import styles from './personal.module.css'

const texts = personalTexts.passkeys
const MAX_PASSKEYS = 20
const touches = () => [passkeysQuery.queryKey]

/** The user's passkeys, with what adds, renames and removes one. */
export function PasskeysCard() {
  const passkeys = useQuery(passkeysQuery)
  const [isAdding, setIsAdding] = useState(false)
  const items = passkeys.data?.items ?? []
  const why = !hasPasskeys() ? texts.unsupported : items.length >= MAX_PASSKEYS ? texts.full : undefined
  return (
    <Card
      title={texts.title}
      header={
        <>
          <Minor>{texts.more}</Minor>
          <Spacer />
          <Button size="sm" icon="plus" why={why} onClick={() => setIsAdding(true)}>
            {texts.add}
          </Button>
        </>
      }
    >
      <PageQuery query={passkeys} what={texts.what} rows={1}>
        {() =>
          items.length === 0 ? (
            <p className={styles.text}>{texts.none}</p>
          ) : (
            <ul>
              {items.map((passkey) => (
                <PasskeyRow key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )
        }
      </PageQuery>
      {isAdding ? <AddDialog onClose={() => setIsAdding(false)} /> : null}
    </Card>
  )
}

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const [open, setOpen] = useState<'rename' | 'remove' | null>(null)
  const { id, name, created_at, last_used_at, backed_up } = passkey
  const close = () => setOpen(null)
  return (
    <SettingRow
      start={<Icon name="passkey" />}
      title={name}
      more={
        <>
          {texts.added(formatDay(created_at))},{' '}
          {last_used_at === null ? (
            texts.unused
          ) : (
            <>
              {texts.lastUsed} <Time at={last_used_at} as="since" />
            </>
          )}
          {backed_up ? `, ${texts.synced}` : null}
        </>
      }
    >
      <Menu
        label={name}
        align="end"
        trigger={<IconButton look="ghost" icon="more" label={`${texts.moreActions}: ${name}`} />}
        entries={[
          { label: texts.rename, icon: 'pencil', onSelect: () => setOpen('rename') },
          { label: texts.remove, icon: 'trash', danger: true, onSelect: () => setOpen('remove') },
        ]}
      />
      {open === 'rename' ? <RenameDialog id={id} name={name} onClose={close} /> : null}
      {open === 'remove' ? <RemoveDialog id={id} name={name} onClose={close} /> : null}
    </SettingRow>
  )
}

type OwnDialogProps = { id: string; name: string; onClose: () => void }

function RenameDialog({ id, name, onClose }: OwnDialogProps) {
  const rename = useChange({
    send: (next: string) =>
      call('PATCH /api/auth/passkeys/:passkeyId', { params: { passkeyId: id }, body: { name: next } }),
    touches,
    said: () => texts.renamed,
    failed: null,
  })
  return (
    <NameDialog
      title={texts.renameTitle}
      label={texts.name}
      missing={texts.nameMissing}
      submit={appTexts.save}
      name={name}
      isBusy={rename.isPending}
      error={rename.error}
      onClose={onClose}
      onSubmit={(next) => rename.mutate(next, { onSuccess: onClose })}
    />
  )
}

function RemoveDialog({ id, name, onClose }: OwnDialogProps) {
  const { confirmed, dialog } = useConfirmation()
  const remove = useChange({
    send: () =>
      confirmed(async (password) => {
        await call('DELETE /api/auth/passkeys/:passkeyId', {
          params: { passkeyId: id },
          body: bodyWithPassword(password),
        })
        return true
      }),
    same: () => id,
    touches,
    failed: texts.notRemoved,
  })
  const send = () =>
    remove.mutate(undefined, {
      onSuccess: (isRemoved) => {
        if (isRemoved !== null) addToast({ text: texts.removed, tone: 'good' })
      },
      onSettled: onClose,
    })
  return (
    <>
      <ConfirmDialog
        title={texts.removeTitle(name)}
        text={texts.removeText}
        submit={texts.remove}
        isBusy={remove.isPending}
        onConfirm={send}
        onClose={onClose}
      />
      {dialog}
    </>
  )
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { confirmed, dialog } = useConfirmation()
  const add = useChange({
    send: (name: string) => confirmed((password) => addPasskey(name, password)),
    touches,
    failed: null,
  })
  return (
    <>
      <NameDialog
        title={texts.addTitle}
        text={texts.addText}
        label={texts.name}
        missing={texts.nameMissing}
        submit={texts.submit}
        name={thisDevice()}
        isBusy={add.isPending}
        error={add.error}
        onClose={onClose}
        onSubmit={(name) =>
          add.mutate(name, {
            onSuccess: (passkey) => {
              if (passkey === null) return
              addToast({ text: texts.addDone, tone: 'good', icon: 'lock' })
              onClose()
            },
          })
        }
      />
      {dialog}
    </>
  )
}

/** A name that the user would give this device. */
function thisDevice(): string {
  const agent = navigator.userAgent
  const system = texts.systems.find(([pattern]) => pattern.test(agent))
  return system?.[1] ?? ''
}
