import type { QueryClient } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { LinkSearch, LoginSearch } from '../../../address/search.ts'
import { methodsQuery } from '../../../api/account-queries.ts'
import { root } from '../../../app/base-routes.ts'

/** The pages show an error of this read. */
const readMethods = (client: QueryClient) => client.query(methodsQuery).catch(() => undefined)

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search) => LoginSearch.parse(search),
  // Awaited, so that the page does not move when the other ways to log in are known.
  loader: async ({ context: { client } }) => {
    const methods = await readMethods(client)
    if (methods?.first === true) throw redirect({ ...paths.signup(), replace: true })
  },
  component: lazyRouteComponent(() => import('./login-page.tsx'), 'LoginPage'),
})

const signup = createRoute({
  getParentRoute: () => root,
  path: '/signup',
  loader: async ({ context: { client } }) => void (await readMethods(client)),
  component: lazyRouteComponent(() => import('./signup-page.tsx'), 'SignupPage'),
})

const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot',
  component: lazyRouteComponent(() => import('./forgot-page.tsx'), 'ForgotPage'),
})

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The one-time token of a mailed link: beside the address, where it is not shown, sent or bookmarked. */
    linkToken?: string
  }
}

/** A page of a mailed link: takes the token out of the address. */
const takeToken = ({ search, location }: { search: LinkSearch; location: { pathname: string } }): void => {
  if (search.token === undefined) return
  throw redirect({ to: location.pathname, search: {}, state: { linkToken: search.token }, replace: true })
}

const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  validateSearch: (search) => LinkSearch.parse(search),
  beforeLoad: takeToken,
  component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
})

const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  validateSearch: (search) => LinkSearch.parse(search),
  beforeLoad: takeToken,
  component: lazyRouteComponent(() => import('./invite-page.tsx'), 'InvitePage'),
})

const confirmEmail = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email',
  validateSearch: (search) => LinkSearch.parse(search),
  beforeLoad: takeToken,
  component: lazyRouteComponent(() => import('./confirm-email-page.tsx'), 'ConfirmEmailPage'),
})

/** The token of these links is in the fragment, which browsers send to no server. */
const takeHashToken = ({ location }: { location: { pathname: string; hash: string } }): void => {
  const token = new URLSearchParams(location.hash).get('token')
  if (token === null) return
  throw redirect({ to: location.pathname, hash: '', state: { linkToken: token.slice(0, 200) }, replace: true })
}

const chatLink = createRoute({
  getParentRoute: () => root,
  path: '/chat/link',
  beforeLoad: takeHashToken,
  component: lazyRouteComponent(() => import('./chat-link-page.tsx'), 'ChatLinkPage'),
})

const unsubscribe = createRoute({
  getParentRoute: () => root,
  path: '/unsubscribe',
  beforeLoad: takeHashToken,
  component: lazyRouteComponent(() => import('./unsubscribe-page.tsx'), 'UnsubscribePage'),
})

/** Pages that need no session. */
export const accountRoutes = [login, signup, forgot, reset, invite, confirmEmail, chatLink, unsubscribe] as const
