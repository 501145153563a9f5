import { useEffect, useRef, type ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { InputBox } from '../ui/field.tsx'
import { Note } from '../ui/note.tsx'
import { formTexts } from './form-texts.ts'
import { LeaveGuard } from './leave-guard.tsx'
import styles from './secret-box.module.css'
import typeStyles from '../ui/type.module.css'

const texts = formTexts.secretBox

type SecretBoxProps = {
  /** The thing to copy, as a sentence. */
  title: string
  /** Accessible name of the field. */
  label: string
  secret: string
  /** The loss when the page is left, for the question before leaving. */
  lost: string
  onStored: () => void
  /** Below the secret. */
  children?: ReactNode
}

/** Shows a secret that the service just answered, this once. Leaving the page before it is stored asks first. */
export function SecretBox({ title, label, secret, lost, onStored, children }: SecretBoxProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.scrollIntoView({ block: 'nearest' })
  }, [secret])
  return (
    <Note tone="green" icon="key">
      <b>{title}</b>
      <div className={styles.line}>
        <InputBox>
          <input
            ref={field}
            className={typeStyles.mono}
            readOnly
            aria-label={label}
            value={secret}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton size="sm" text={secret} said={texts.copied} />
        </InputBox>
        <Button icon="check" onClick={onStored}>
          {texts.stored}
        </Button>
      </div>
      {children}
      <LeaveGuard title={texts.leaveTitle} text={lost} stay={texts.stay} leave={texts.leaveNow} />
    </Note>
  )
}
