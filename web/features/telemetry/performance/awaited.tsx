import type { ReactNode } from 'react'
import { QueryError } from '../../../frames/query-error.tsx'
import { appTexts } from '../../../app/texts.ts'
import type { Performance } from '../../../api/performance-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { performanceTexts } from './texts.ts'
import type { usePerformance } from './use-view.ts'

type AwaitedProps = { query: ReturnType<typeof usePerformance>; children: (data: Performance) => ReactNode }

/** A page, or its skeleton or error. */
export function Awaited({ query, children }: AwaitedProps) {
  if (query.data !== undefined) return children(query.data)
  if (query.error === null) return <Skeleton heightPx={420} label={appTexts.loading} />
  return (
    <Card>
      <QueryError what={performanceTexts.title} error={query.error} onRetry={() => void query.refetch()} />
    </Card>
  )
}
