import { LeaveGuard } from '../../../forms/leave-guard.tsx'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { meQuery } from '../../../api/queries.ts'
import { downloadText } from '../../../app/download.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { personalTexts } from './texts.ts'
import styles from './backup-codes.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = personalTexts.backupCodes

/** `7F2K991QDX` → `7F2K9-91QDX`, to be read and copied by hand; the service takes both. */
const spaced = (code: string): string => `${code.slice(0, code.length / 2)}-${code.slice(code.length / 2)}`

/** Backup codes, shown this once, with ways to keep them. */
export function BackupCodes({ codes, children }: { codes: readonly string[]; children?: ReactNode }) {
  const me = useQuery(meQuery)
  const shown = codes.map(spaced)
  const text = shown.join('\n')
  const email = me.data?.user.email ?? ''
  return (
    <div className={styles.codes}>
      <h3 className={typeStyles.medium}>{texts.title}</h3>
      <Minor as="p">{texts.more}</Minor>
      <ul className={typeStyles.mono} aria-label={texts.label}>
        {shown.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Toolbar>
        <CopyButton size="sm" text={text} said={texts.copied} />
        <Button
          size="sm"
          icon="download"
          onClick={() => downloadText(texts.filename, texts.file(email, location.host, text))}
        >
          {texts.download}
        </Button>
        {children}
      </Toolbar>
    </div>
  )
}

/** Asks before the page with codes that are not stored is left. */
export const CodesGuard = () => (
  <LeaveGuard title={texts.leaveTitle} text={texts.leave} stay={texts.stay} leave={texts.leaveNow} />
)
