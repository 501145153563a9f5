import { useQuery } from '@tanstack/react-query'
import { projectsQuery } from '../../../api/queries.ts'
import type { Performance } from '../../../api/performance-queries.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { pageKind } from './page-kind.ts'
import { ServerPage } from './server-page.tsx'
import { isEmpty, NoData, StartUp } from './start-page.tsx'
import { performanceTexts } from './texts.ts'
import { usePerformance, usePerformanceView, type PerformanceAt } from './use-view.ts'
import { WebPage } from './web-page.tsx'

/** The first performance page: of a mobile app, of pages in a browser, or of a server. */
export function HomePage() {
  const at = usePerformanceView()
  const query = usePerformance(at.view)
  return (
    <PageQuery query={query} what={performanceTexts.title}>
      {(data) => <Home data={data} at={at} />}
    </PageQuery>
  )
}

function Home({ data, at }: { data: Performance; at: PerformanceAt }) {
  const projects = useQuery(projectsQuery)
  const project = projects.data?.items.find(({ id }) => id === at.view.projectId)
  const kind = pageKind(project?.platform ?? 'other', data)
  if (kind === 'mobile') return <StartUp data={data} at={at} />
  if (isEmpty(data) && data.requests.count === 0) return <NoData projectId={at.view.projectId} />
  return kind === 'web' ? <WebPage data={data} at={at} /> : <ServerPage data={data} at={at} />
}
