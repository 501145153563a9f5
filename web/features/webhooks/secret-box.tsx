import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { InputBox } from '../../ui/field.tsx'
import { Note } from '../../ui/note.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { webhooksTexts } from './texts.ts'
import styles from './secret-box.module.css'
import typeStyles from '../../ui/type.module.css'

const texts = webhooksTexts.secretBox

/** A secret that the service just answered. */
export type FreshSecret = { host: string; secret: string; isRotated: boolean }

/** Shows a secret, this once. Leaving the page before it is stored asks first. */
export function SecretBox({ fresh, onStored }: { fresh: FreshSecret; onStored: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  const leaving = useBlocker({
    // Another selection on this page keeps the box.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: true,
    withResolver: true,
  })
  useEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.scrollIntoView({ block: 'nearest' })
  }, [fresh.secret])
  return (
    <Note tone="green" icon="key">
      <b>{(fresh.isRotated ? texts.titleRotated : texts.title)(fresh.host)}</b>
      <div className={styles.line}>
        <InputBox>
          <input
            ref={field}
            className={typeStyles.mono}
            readOnly
            aria-label={texts.label}
            value={fresh.secret}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton size="sm" text={fresh.secret} said={texts.copied} />
        </InputBox>
        <Button icon="check" onClick={onStored}>
          {texts.stored}
        </Button>
      </div>
      <Dialog open={leaving.status === 'blocked'} onClose={() => leaving.reset?.()} title={texts.leaveTitle}>
        <p>{texts.leave}</p>
        <Toolbar align="end">
          <Button onClick={() => leaving.reset?.()}>{texts.stay}</Button>
          <Button look="danger" onClick={() => leaving.proceed?.()}>
            {texts.leaveNow}
          </Button>
        </Toolbar>
      </Dialog>
    </Note>
  )
}
