import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { SecuritySearch } from '../../../address/search.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const me = createRoute({
  getParentRoute: () => shell,
  path: '/me',
  staticData: { scope: { project: 'none', range: false } },
  component: lazyRouteComponent(() => import('./personal-frame.tsx'), 'MeFrame'),
})

const meIndex = createRoute({
  getParentRoute: () => me,
  path: '/',
  beforeLoad: () => {
    throw redirect({ ...paths.profile(), replace: true })
  },
})

const profile = createRoute({
  getParentRoute: () => me,
  path: '/profile',
  component: lazyRouteComponent(() => import('./profile-page.tsx'), 'ProfilePage'),
})

const security = createRoute({
  getParentRoute: () => me,
  path: '/security',
  validateSearch: (search) => SecuritySearch.parse(search),
  component: lazyRouteComponent(() => import('./security-page.tsx'), 'SecurityPage'),
})

const sessions = createRoute({
  getParentRoute: () => me,
  path: '/sessions',
  component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
})

const notifications = createRoute({
  getParentRoute: () => me,
  path: '/notifications',
  loader: ({ context: { client } }) => {
    // No part of the first load of other pages.
    prefetch(
      import('../../../api/notification-queries.ts').then(({ preferencesQuery, pushDevicesQuery }) =>
        Promise.all([client.query(preferencesQuery), client.query(pushDevicesQuery)]),
      ),
    )
  },
  component: lazyRouteComponent(() => import('./notifications-page.tsx'), 'NotificationsPage'),
})

const appearance = createRoute({
  getParentRoute: () => me,
  path: '/appearance',
  component: lazyRouteComponent(() => import('./appearance-page.tsx'), 'AppearancePage'),
})

export const personalRoutes = [
  me.addChildren([meIndex, profile, security, sessions, notifications, appearance]),
] as const
