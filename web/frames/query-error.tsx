import { ApiError } from '../api/call.ts'
import { useKeys } from '../app/keys.ts'
import { ErrorPart } from '../ui/error-part.tsx'
import { errorSentence } from '../api/change.ts'
import { appTexts } from '../app/texts.ts'
import { useState } from 'react'

type QueryErrorProps = {
  /** The name of the data, as the start of a sentence: "Issues". */
  what: string
  error: Error
  onRetry: () => void
  /** The data that is still shown, if any. */
  kept?: string
}

/** A failed query, in its place: the server's message, Try again (`.`), the request id. */
export function QueryError({ what, error, onRetry, kept }: QueryErrorProps) {
  useKeys([{ keys: '.', label: appTexts.tryAgain, group: 'Page', run: onRetry }])
  const refusal = error instanceof ApiError ? error : null
  const wait = refusal?.retryAfterSeconds ?? null
  // Counted from the moment the error was shown.
  const [shownAt] = useState(() => Date.now())
  return (
    <ErrorPart
      title={appTexts.notLoaded(what)}
      requestId={refusal?.requestId}
      retryAt={wait === null ? null : shownAt + wait * 1000}
      onRetry={onRetry}
    >
      {kept === undefined ? errorSentence(error) : `${errorSentence(error)} ${kept}`}
    </ErrorPart>
  )
}
