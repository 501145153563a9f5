import { Link, type LinkProps } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { FieldHint } from '../../../ui/field.tsx'
import { formatLeft } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Note } from '../../../ui/note.tsx'
import { useNow } from '../../../ui/now.ts'
import { accountsTexts } from './texts.ts'
import styles from './entry-parts.module.css'
import typeStyles from '../../../ui/type.module.css'

/** The heading of an entry page, with a sentence. */
export const EntryHead = ({ title, children }: { title: string; children?: ReactNode }) => (
  <>
    <h1>{title}</h1>
    {children === undefined ? null : <p className={styles.lead}>{children}</p>}
  </>
)

type BackProps = { link: Pick<LinkProps, 'to' | 'search'> } | { onBack: () => void }

/** Back to the form before, above the heading. */
export function Back(props: BackProps) {
  const content = (
    <>
      <Icon name="left" />
      {accountsTexts.back}
    </>
  )
  return 'link' in props ? (
    <Link className={classNames(styles.back, choiceStyles.lightens)} {...props.link}>
      {content}
    </Link>
  ) : (
    <button type="button" className={classNames(styles.back, choiceStyles.lightens)} onClick={props.onBack}>
      {content}
    </button>
  )
}

/** A line with "or" between two ways. */
export const Or = () => <p className={styles.or}>{accountsTexts.or}</p>

/** A sentence with a link below the button. */
export const Alternative = ({ children }: { children: ReactNode }) => <p className={styles.alternative}>{children}</p>

/** A refusal that belongs to no field. */
export const Refusal = ({ error }: { error: Error }) => (
  <Note tone="red" icon="warn" role="alert">
    {errorSentence(error)}
    <Wait error={error} />
  </Note>
)

/** The time left until the next attempt, after a 429. */
export function Wait({ error }: { error: Error | null }) {
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : null
  return seconds === null ? null : <Countdown key={String(error)} seconds={seconds} />
}

function Countdown({ seconds }: { seconds: number }) {
  const [until] = useState(() => Date.now() + seconds * 1000)
  const now = useNow('second')
  // Announced once when it appears; the countdown is only visible.
  const [said] = useState(() => formatLeft(until))
  if (now >= until) return null
  return (
    <FieldHint role="status">
      <span className={typeStyles.hidden}>{accountsTexts.possibleIn(said)}</span>
      <span aria-hidden="true">{accountsTexts.possibleIn(formatLeft(until, now))}</span>
    </FieldHint>
  )
}
