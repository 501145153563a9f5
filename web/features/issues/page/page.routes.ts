import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IssueEventsSearch, IssueSearch } from '../../../address/search.ts'
import { issueEventQuery } from '../../../api/issue-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const issue = createRoute({
  getParentRoute: () => shell,
  path: '/issues/$issueId',
  // The chart of the page has its own range.
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => IssueSearch.parse(search),
  loaderDeps: ({ search }) => ({ event: search.event ?? 'latest' }),
  loader: ({ context: { client }, params, deps, preload }) => {
    if (!preload) prefetch(client.query(issueEventQuery(params.issueId, deps.event)))
  },
  component: lazyRouteComponent(() => import('./issue-page.tsx'), 'IssuePage'),
})

const issueEvents = createRoute({
  getParentRoute: () => shell,
  path: '/issues/$issueId/events',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => IssueEventsSearch.parse(search),
  component: lazyRouteComponent(() => import('./events/events-page.tsx'), 'IssueEventsPage'),
})

export const issuePageRoutes = [issue, issueEvents] as const
