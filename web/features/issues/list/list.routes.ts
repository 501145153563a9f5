import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IssuesSearch } from '../../../address/search.ts'
import { toStreamFilters, streamQuery, volumeQuery } from '../../../api/issue-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const issues = createRoute({
  getParentRoute: () => shell,
  path: '/issues',
  staticData: { scope: { project: 'any', range: true, dates: true } },
  validateSearch: (search) => IssuesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  // In parallel with the code of the page. Hovering a link only fetches the code.
  loader: ({ context: { client }, deps, preload }) => {
    if (preload) return
    const filters = toStreamFilters(deps)
    prefetch(client.infiniteQuery(streamQuery(filters)))
    prefetch(client.query(volumeQuery(filters)))
  },
  component: lazyRouteComponent(() => import('./issues-page.tsx'), 'IssuesPage'),
})

export const issueListRoutes = [issues] as const
