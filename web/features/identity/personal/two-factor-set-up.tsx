import { useMutation } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { BackupCodes } from './backup-codes.tsx'
import { personalTexts } from './texts.ts'
import styles from './two-factor-set-up.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = personalTexts.twoFactor
const CODE_LENGTH = 6

const QrCode = lazy(() => import('./qr-code.tsx').then((module) => ({ default: module.QrCode })))

/** `JBSWY3DP` → `JBSW Y3DP`, to be typed by hand; apps ignore the spaces. */
const inFours = (key: string): string => key.match(/.{1,4}/g)?.join(' ') ?? key

type TwoFactorSetUpProps = {
  otpauthUrl: string
  backupCodes: readonly string[]
  onCancel: () => void
  onDone: () => Promise<void>
}

/** Scan, enter a code, store the backup codes. Nothing is on before the code was right. */
export function TwoFactorSetUp({ otpauthUrl, backupCodes, onCancel, onDone }: TwoFactorSetUpProps) {
  const [code, setCode] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const key = new URL(otpauthUrl).searchParams.get('secret') ?? ''
  const verify = useMutation({
    mutationFn: () => call('POST /api/auth/2fa/verify', { body: { token: code } }),
    onSuccess: onDone,
    onError: () => field.current?.select(),
  })
  useEffect(() => field.current?.focus(), [])
  const submit = () => {
    if (verify.isPending) return
    setIsMissing(code.length !== CODE_LENGTH)
    if (code.length === CODE_LENGTH) verify.mutate()
    else field.current?.focus()
  }
  return (
    <Card title={texts.title} header={<Badge tone="amber">{texts.setUpBadge}</Badge>}>
      <div className={styles.parts}>
        <div className={styles.code}>
          <Suspense>
            <QrCode text={otpauthUrl} label={texts.qr} />
          </Suspense>
        </div>
        <Form className={classNames(styles.form, typeStyles.headNames)} onSubmit={submit}>
          <p>
            <b>{texts.scan}</b>
            {texts.orByHand}
          </p>
          <p className={styles.key}>
            <span className={typeStyles.mono} aria-label={texts.key}>
              {inFours(key)}
            </span>
            <CopyButton iconOnly text={key} said={texts.keyCopied}>
              {texts.copyKey}
            </CopyButton>
          </p>
          <div className={styles.digits}>
            <Field
              ref={field}
              label={texts.code}
              className={typeStyles.mono}
              inputMode="numeric"
              autoComplete="one-time-code"
              spellCheck={false}
              value={code}
              error={isMissing ? texts.codeMissing : verify.error === null ? undefined : errorSentence(verify.error)}
              onChange={(event) => {
                setCode(event.target.value.replace(/\D/g, '').slice(0, CODE_LENGTH))
                setIsMissing(false)
              }}
            />
          </div>
          <Toolbar>
            <Button type="submit" look="primary" busy={verify.isPending}>
              {texts.turnOn}
            </Button>
            <Button onClick={onCancel}>{texts.cancel}</Button>
          </Toolbar>
        </Form>
        <div className={styles.backup}>
          <BackupCodes codes={backupCodes} />
        </div>
      </div>
    </Card>
  )
}
