import { useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { ApiError } from '../api/call.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { shared } from '../words/shared.ts'
import { shell } from '../words/shell.ts'

/** The last net: a page that threw while drawing, or code that could not be fetched after a new version. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const refusal = error instanceof ApiError ? error.message : null
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <main className="lost" id="main" tabIndex={-1}>
      <div className="empty" role="alert">
        <Icon name="warn" className="big c-red" />
        <h1>{shell.crash}</h1>
        <p>{refusal ?? shell.crashMore}</p>
        <span className="rowk">
          <Button look="primary" onClick={again}>
            {shared.tryAgain}
          </Button>
          <Button look="ghost" onClick={() => location.reload()}>
            {shell.reload}
          </Button>
        </span>
      </div>
    </main>
  )
}
