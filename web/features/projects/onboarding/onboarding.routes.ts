import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { OnboardingSearch } from '../../../address/search.ts'
import { onboardingQuery } from '../../../api/queries.ts'
import { signedIn } from '../../../app/base-routes.ts'

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  loader: async ({ context }) => {
    const { steps } = await context.client.query(onboardingQuery)
    throw redirect(steps.first_event ? paths.issues() : paths.onboarding())
  },
})

const onboarding = createRoute({
  getParentRoute: () => signedIn,
  path: '/onboarding',
  validateSearch: (search) => OnboardingSearch.parse(search),
  component: lazyRouteComponent(() => import('./onboarding-page.tsx'), 'OnboardingPage'),
})

export const onboardingRoutes = [home, onboarding] as const
