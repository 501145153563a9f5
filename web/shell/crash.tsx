import { useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { CentredMain } from '../frames/centred-main.tsx'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/call.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { appTexts } from '../app/texts.ts'
import { shellTexts } from './texts.ts'

/** Messages of browsers and of the loader when code or styles fail to load: no connection, or a new version. */
const NOT_FETCHED = /dynamically imported module|preload CSS|module script/i

/** The error page: a component threw, or its code could not be loaded. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const refusal = error instanceof ApiError ? error.message : null
  const isUnfetched = error instanceof Error && NOT_FETCHED.test(error.message)
  const [isOffline, setOffline] = useState(() => !navigator.onLine)
  useEffect(() => {
    const change = () => setOffline(!navigator.onLine)
    // A browser does not retry a failed module, so the page is reloaded; the address holds its state.
    const back = () => (isUnfetched ? location.reload() : change())
    addEventListener('online', back)
    addEventListener('offline', change)
    return () => {
      removeEventListener('online', back)
      removeEventListener('offline', change)
    }
  }, [isUnfetched])
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <CentredMain>
      <EmptyState
        kind="failed"
        heading="h1"
        title={isUnfetched ? shellTexts.unfetched : shellTexts.crash}
        actions={
          <>
            {isUnfetched ? null : (
              <Button look="primary" onClick={again}>
                {appTexts.tryAgain}
              </Button>
            )}
            {isUnfetched && isOffline ? null : (
              <Button look={isUnfetched ? 'primary' : 'ghost'} onClick={() => location.reload()}>
                {shellTexts.reload}
              </Button>
            )}
          </>
        }
      >
        {refusal ?? (isUnfetched ? (isOffline ? shellTexts.offline : shellTexts.unfetchedMore) : shellTexts.crashMore)}
      </EmptyState>
    </CentredMain>
  )
}
