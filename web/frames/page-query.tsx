import type { ReactNode } from 'react'
import { ApiError } from '../api/call.ts'
import { errorSentence } from '../api/change.ts'
import { appTexts } from '../app/texts.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Skeleton, SkeletonRows } from '../ui/skeleton.tsx'
import typeStyles from '../ui/type.module.css'
import { QueryError } from './query-error.tsx'

type Awaited<Data> = { data: Data | undefined; error: Error | null; refetch: () => Promise<unknown> }

type PageQueryProps<Data> = {
  query: Awaited<Data>
  /** The name of the data, as the start of a sentence: "Issues". */
  what: string
  /** The height of the content, which its skeleton takes. */
  heightPx?: number
  /** The rows of the skeleton of a list; the list stands in a card of the page. */
  rows?: number
  /** The content stands in a card of the page. */
  inCard?: boolean
  /** The title of the content's card, which the card of an error has too. */
  title?: string
  /** The name of a page whose head is part of the content; it heads the skeleton, and an error has no card. */
  pageTitle?: string
  /** Shown instead of a skeleton; null for content that may be absent. */
  waiting?: ReactNode
  /** Shown where nothing has the address. */
  missing?: ReactNode
  children: (data: Data) => ReactNode
}

/** The content of a query; before that its skeleton, or why there is none: missing, refused, failed. */
export function PageQuery<Data>({
  query: { data, error, refetch },
  what,
  heightPx = 420,
  rows,
  title,
  pageTitle,
  inCard = rows !== undefined || pageTitle !== undefined,
  waiting,
  missing,
  children,
}: PageQueryProps<Data>) {
  if (data !== undefined) return children(data)
  if (error === null) {
    if (waiting !== undefined) return waiting
    if (rows !== undefined) return <SkeletonRows rows={rows} label={appTexts.loading} />
    return (
      <>
        {pageTitle === undefined ? null : <h1 className={typeStyles.hidden}>{pageTitle}</h1>}
        <Skeleton heightPx={heightPx} label={appTexts.loading} />
      </>
    )
  }
  const status = error instanceof ApiError ? error.status : null
  const part =
    missing !== undefined && (status === 404 || status === 400) ? (
      missing
    ) : status === 403 ? (
      <EmptyState kind="refused" title={errorSentence(error)} />
    ) : (
      <QueryError what={what} error={error} onRetry={() => void refetch()} />
    )
  return inCard ? part : <Card title={title}>{part}</Card>
}

/** Two queries as one, for content that needs both. */
export const bothQueries = <First, Second>(
  first: Awaited<First>,
  second: Awaited<Second>,
): Awaited<readonly [First, Second]> => ({
  data: first.data === undefined || second.data === undefined ? undefined : [first.data, second.data],
  error: first.error ?? second.error,
  refetch: () => Promise.all([first.refetch(), second.refetch()]),
})
