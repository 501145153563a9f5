import { useEffect, useEffectEvent, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { EmptyState } from './empty-state.tsx'
import { formatLeft } from './format.ts'
import { useNow } from './now.ts'
import { uiTexts } from './texts.ts'

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
    <EmptyState
      kind="failed"
      title={title}
      actions={
        <>
          {onRetry === undefined ? null : <RetryButton retryAt={retryAt ?? null} onRetry={onRetry} />}
          {requestId == null ? null : (
            <CopyButton look="ghost" text={requestId} said={uiTexts.requestIdCopied}>
              {uiTexts.copyRequestId}
            </CopyButton>
          )}
        </>
      }
    >
      {children}
    </EmptyState>
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
