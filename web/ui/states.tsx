import { useEffect, useEffectEvent, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Card } from './card.tsx'
import { CopyButton } from './copy-button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { formatLeft } from './format.ts'
import { useNow } from './now.ts'
import { Toolbar } from './stack.tsx'
import { uiTexts } from './texts.ts'

const PATIENCE_MS = 150

/** False for the first 150 ms, so that fast loads show no skeleton. */
export function useLate(): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return late
}

/** Skeleton rows with the height of the content and varying widths. */
export function SkeletonRows({ rows, label }: { rows: number; label: string }) {
  const late = useLate()
  const widths = ['58%', '44%', '66%', '50%', '61%', '40%']
  const lower = ['34%', '40%', '28%', '36%', '31%', '24%']
  return (
    <ul aria-busy="true" aria-label={label}>
      {Array.from({ length: rows }, (_, row) => (
        <li key={row} className="sk">
          {late ? (
            <>
              <span className="sk-b" data-w="16" />
              <span>
                <span className="sk-b" style={{ inlineSize: widths[row % widths.length] }} />
                <span className="sk-b s" style={{ inlineSize: lower[row % lower.length] }} />
              </span>
              <span className="sk-b" data-w="100" />
            </>
          ) : null}
        </li>
      ))}
    </ul>
  )
}

/** A skeleton block with the height of the content. */
export function Skeleton({ heightPx, label }: { heightPx: number; label: string }) {
  const late = useLate()
  return (
    <Card as="div" style={{ blockSize: heightPx }} aria-busy="true" aria-label={label} role="status">
      {late ? (
        <div className="sk">
          <span className="sk-b" data-w="16" />
          <span>
            <span className="sk-b" style={{ inlineSize: '42%' }} />
            <span className="sk-b s" style={{ inlineSize: '27%' }} />
          </span>
        </div>
      ) : null}
    </Card>
  )
}

type EmptyProps = {
  /** good: no problems. filtered: hidden by filters. setup: no data yet. */
  kind: 'good' | 'filtered' | 'setup'
  title: string
  children?: ReactNode
  actions?: ReactNode
}

const EMPTY_ICONS: Readonly<Record<EmptyProps['kind'], readonly [IconName, string]>> = {
  good: ['st-resolved', 'c-green'],
  filtered: ['filter', 'c-3'],
  setup: ['plus', 'c-3'],
}

export function Empty({ kind, title, children, actions }: EmptyProps) {
  const [icon, colour] = EMPTY_ICONS[kind]
  return (
    <div className="empty">
      <Icon name={icon} className={`${colour} big`} />
      <h3>{title}</h3>
      {children === undefined ? null : <p>{children}</p>}
      {actions === undefined ? null : <Toolbar>{actions}</Toolbar>}
    </div>
  )
}

type ErrorPartProps = {
  /** The error: "Issues did not load". */
  title: string
  /** The server's message, and what is still shown. */
  children: ReactNode
  requestId?: string | null | undefined
  /** The time of the next retry, shown as a countdown. */
  retryAt?: number | null | undefined
  onRetry?: (() => void) | undefined
}

/** An error in place of the part that failed. */
export function ErrorPart({ title, children, requestId, retryAt, onRetry }: ErrorPartProps) {
  return (
    <div className="empty" role="alert">
      <Icon name="warn" className="big c-red" />
      <h3>{title}</h3>
      <p>{children}</p>
      <Toolbar>
        {onRetry === undefined ? null : <RetryButton retryAt={retryAt ?? null} onRetry={onRetry} />}
        {requestId == null ? null : (
          <CopyButton look="ghost" text={requestId} said={uiTexts.requestIdCopied}>
            {uiTexts.copyRequestId}
          </CopyButton>
        )}
      </Toolbar>
    </div>
  )
}

/** Retries automatically at the time that the response named, and on press after that. */
function RetryButton({ retryAt, onRetry }: { retryAt: number | null; onRetry: () => void }) {
  const now = useNow('second')
  const waits = retryAt !== null && retryAt > now
  const retry = useEffectEvent(onRetry)
  useEffect(() => {
    if (retryAt === null) return undefined
    const timer = setTimeout(() => retry(), Math.max(0, retryAt - Date.now()))
    return () => clearTimeout(timer)
  }, [retryAt])
  const left = waits ? formatLeft(retryAt, now) : ''
  return (
    <Button look="primary" keys="." onClick={onRetry} why={waits ? uiTexts.possibleIn(left) : undefined}>
      {waits ? uiTexts.tryAgainIn(left) : uiTexts.tryAgain}
    </Button>
  )
}

type NoteProps = {
  tone: 'amber' | 'red' | 'green' | 'blue' | 'plain'
  icon: IconName
  children: ReactNode
  action?: ReactNode
  role?: 'status' | 'alert'
}

/** A banner inside the page. */
export function Note({ tone, icon, children, action, role }: NoteProps) {
  return (
    <div className={tone === 'plain' ? 'note' : `note note-${tone}`} role={role}>
      <Icon name={icon} />
      <div>{children}</div>
      {action}
    </div>
  )
}
