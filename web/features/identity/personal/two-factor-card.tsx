import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { twoFactorQuery } from '../../../api/account-queries.ts'
import { call, type AnswerOf } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { meQuery } from '../../../api/queries.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { BackupCodes, CodesGuard } from './backup-codes.tsx'
import { bodyWithPassword, PasswordDialog, useConfirmation } from './confirm.tsx'
import { personalTexts } from './texts.ts'
import { TwoFactorSetUp } from './two-factor-set-up.tsx'
import styles from './personal.module.css'

const texts = personalTexts.twoFactor
const FEW_CODES = 3

type TwoFactor = AnswerOf<'GET /api/auth/2fa'>

/** Two-step log-in: off, being set up, or on. */
export function TwoFactorCard() {
  const state = useQuery(twoFactorQuery)
  // Shown until they are stored: the service does not answer them again.
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  return (
    <PageQuery query={state} what={texts.what} title={texts.title} heightPx={96}>
      {(data) =>
        data.enabled ? <TurnedOn state={data} codes={codes} onCodes={setCodes} /> : <TurnedOff onCodes={setCodes} />
      }
    </PageQuery>
  )
}

function TurnedOff({ onCodes }: { onCodes: (codes: readonly string[]) => void }) {
  const client = useQueryClient()
  const { confirmed, dialog } = useConfirmation()
  const start = useMutation({
    mutationFn: () => confirmed((password) => call('POST /api/auth/2fa/setup', { body: bodyWithPassword(password) })),
  })
  const setUp = start.data ?? null
  if (setUp !== null)
    return (
      <TwoFactorSetUp
        {...setUp}
        onCancel={() => start.reset()}
        onDone={async () => {
          onCodes(setUp.backupCodes)
          addToast({ text: texts.turnedOn, tone: 'good', icon: 'lock' })
          await client.invalidateQueries({ queryKey: ['account'] })
        }}
      />
    )
  return (
    <Card
      title={texts.title}
      header={
        <>
          <Badge tone="plain">{texts.off}</Badge>
          <Spacer />
          <Button size="sm" busy={start.isPending} onClick={() => start.mutate()}>
            {texts.setUp}
          </Button>
        </>
      }
    >
      <p className={styles.text}>{texts.offText}</p>
      {start.error === null ? null : (
        <div className={styles.text}>
          <Note tone="red" icon="warn" role="alert">
            {errorSentence(start.error)}
          </Note>
        </div>
      )}
      {dialog}
    </Card>
  )
}

type TurnedOnProps = {
  state: TwoFactor
  codes: readonly string[] | null
  onCodes: (codes: readonly string[] | null) => void
}

function TurnedOn({ state, codes, onCodes }: TurnedOnProps) {
  const client = useQueryClient()
  const me = useQuery(meQuery)
  const [asks, setAsks] = useState<'off' | 'codes' | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ['account'] })
  const close = () => setAsks(null)
  const needsPassword = me.data?.user.has_password !== false
  const bodyOf = (password: string) => ({ body: needsPassword ? { password } : {} })
  return (
    <Card
      title={texts.title}
      header={
        <Badge tone="green" icon="check">
          {texts.on}
        </Badge>
      }
    >
      <p className={styles.text}>
        {state.enrolled_at === null ? null : texts.since(formatDay(state.enrolled_at))}{' '}
        {texts.codesLeft(state.backup_codes_left)}
      </p>
      {state.backup_codes_left > FEW_CODES || codes !== null ? null : (
        <div className={styles.inset}>
          <Note tone="amber" icon="warn">
            {texts.fewCodes}
          </Note>
        </div>
      )}
      {codes === null ? null : (
        <div className={styles.inset}>
          <Note tone="green" icon="key">
            <BackupCodes codes={codes}>
              <Button size="sm" icon="check" onClick={() => onCodes(null)}>
                {personalTexts.backupCodes.stored}
              </Button>
            </BackupCodes>
          </Note>
          <CodesGuard />
        </div>
      )}
      <Toolbar className={styles.actions}>
        <Button size="sm" onClick={() => setAsks('codes')}>
          {texts.newCodes}
        </Button>
        <Button size="sm" look="danger" onClick={() => setAsks('off')}>
          {texts.turnOff}
        </Button>
      </Toolbar>
      {asks === 'codes' ? (
        <PasswordDialog
          title={texts.newCodesTitle}
          text={texts.newCodesText}
          submit={texts.create}
          needsPassword={needsPassword}
          onClose={close}
          onSend={async (password) => {
            const { backupCodes } = await call('POST /api/auth/2fa/backup-codes', bodyOf(password))
            onCodes(backupCodes)
            close()
            await refresh()
          }}
        />
      ) : null}
      {asks === 'off' ? (
        <PasswordDialog
          title={texts.offTitle}
          text={texts.offWarning}
          submit={texts.turnOff}
          danger
          needsPassword={needsPassword}
          onClose={close}
          onSend={async (password) => {
            await call('POST /api/auth/2fa/disable', bodyOf(password))
            close()
            addToast({ text: texts.turnedOff, tone: 'good', icon: 'lock' })
            await refresh()
          }}
        />
      ) : null}
    </Card>
  )
}
