import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { FeedbackSearch } from '../../../address/search.ts'
import { shell } from '../../../app/base-routes.ts'

const feedback = createRoute({
  getParentRoute: () => shell,
  path: '/feedback',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => FeedbackSearch.parse(search),
  component: lazyRouteComponent(() => import('./feedback-page.tsx'), 'FeedbackPage'),
})

export const feedbackRoutes = [feedback] as const
