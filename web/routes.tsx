import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router'
import { alertRuleQuery, openAlertsQuery } from './api/alert-queries.ts'
import { methodsQuery } from './api/account-queries.ts'
import { intakeQuery } from './api/intake-queries.ts'
import { filtersOf, issueEventQuery, streamQuery, volumeQuery } from './api/issue-queries.ts'
import { preferencesQuery, pushDevicesQuery } from './api/notification-queries.ts'
import { meQuery, onboardingQuery, projectSettingsQuery, projectsQuery } from './api/queries.ts'
import { releaseQuery, releasesHealthQuery, releasesQuery, releaseViewOf } from './api/release-queries.ts'
import { Crash } from './shell/crash.tsx'
import { NotFound } from './shell/not-found.tsx'
import { Root } from './shell/root.tsx'
import { traceQuery } from './api/trace-queries.ts'
import { Shell } from './shell/shell.tsx'
import { SignedIn } from './shell/signed-in.tsx'
import { paths } from './address/paths.ts'
import {
  AlertHistorySearch,
  AlertsSearch,
  AuditSearch,
  DEFAULT_RANGE,
  HEALTH_RANGE,
  IssueEventsSearch,
  IssueSearch,
  IssuesSearch,
  LinkSearch,
  LoginSearch,
  MetricsSearch,
  NewRuleSearch,
  OnboardingSearch,
  parseSearch,
  PerformanceSearch,
  RELEASE_RANGE,
  ReleasesSearch,
  SecuritySearch,
  ShellSearch,
  type Range,
  stringifySearch,
  WebhooksSearch,
} from './address/search.ts'

/** The controls of the top bar on a page: project picker and time range. */
type PageScope = {
  project: 'any' | 'one' | 'none'
  range: boolean
  /** Whether the page shows any dates, beside the ranges. */
  dates?: boolean
  defaultRange?: Range
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    scope?: PageScope
  }
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

/** Errors of prefetched queries are shown by the component that uses the query. */
const noop = () => undefined

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: Crash,
})

// Without a session ---------------------------------------------------------------------

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search) => LoginSearch.parse(search),
  // Awaited, so that the page does not move when the other ways to log in are known.
  loader: async ({ context: { client } }) => {
    const methods = await client.query(methodsQuery).catch(noop)
    if (methods?.first === true) throw redirect({ ...paths.signup(), replace: true })
  },
  component: lazyRouteComponent(() => import('./features/identity/accounts/login-page.tsx'), 'LoginPage'),
})

const signup = createRoute({
  getParentRoute: () => root,
  path: '/signup',
  loader: async ({ context: { client } }) => void (await client.query(methodsQuery).catch(noop)),
  component: lazyRouteComponent(() => import('./features/identity/accounts/signup-page.tsx'), 'SignupPage'),
})

const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot',
  component: lazyRouteComponent(() => import('./features/identity/accounts/forgot-page.tsx'), 'ForgotPage'),
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
  component: lazyRouteComponent(() => import('./features/identity/accounts/reset-page.tsx'), 'ResetPage'),
})

const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  validateSearch: (search) => LinkSearch.parse(search),
  beforeLoad: takeToken,
  component: lazyRouteComponent(() => import('./features/identity/accounts/invite-page.tsx'), 'InvitePage'),
})

const confirmEmail = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email',
  validateSearch: (search) => LinkSearch.parse(search),
  beforeLoad: takeToken,
  component: lazyRouteComponent(
    () => import('./features/identity/accounts/confirm-email-page.tsx'),
    'ConfirmEmailPage',
  ),
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
  component: lazyRouteComponent(() => import('./features/identity/accounts/chat-link-page.tsx'), 'ChatLinkPage'),
})

const unsubscribe = createRoute({
  getParentRoute: () => root,
  path: '/unsubscribe',
  beforeLoad: takeHashToken,
  component: lazyRouteComponent(() => import('./features/identity/accounts/unsubscribe-page.tsx'), 'UnsubscribePage'),
})

// With a session --------------------------------------------------------------------------------

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: SignedIn,
  // Not awaited: pages load their code and data meanwhile. An error 401 leads to the login page.
  loader: ({ context }) => {
    void context.client.query(meQuery).catch(noop)
    void context.client.query(projectsQuery).catch(noop)
  },
})

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
  component: lazyRouteComponent(() => import('./features/projects/onboarding/onboarding-page.tsx'), 'OnboardingPage'),
})

const shell = createRoute({
  getParentRoute: () => signedIn,
  id: 'shell',
  validateSearch: (search) => ShellSearch.parse(search),
  component: Shell,
})

const issues = createRoute({
  getParentRoute: () => shell,
  path: '/issues',
  staticData: { scope: { project: 'any', range: true, dates: true } },
  validateSearch: (search) => IssuesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  // In parallel with the code of the page. Hovering a link only fetches the code.
  loader: ({ context: { client }, deps, preload }) => {
    if (preload) return
    const filters = filtersOf(deps)
    void client.infiniteQuery(streamQuery(filters)).catch(noop)
    void client.query(volumeQuery(filters)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/issues/list/issues-page.tsx'), 'IssuesPage'),
})

const issue = createRoute({
  getParentRoute: () => shell,
  path: '/issues/$issueId',
  // The chart of the page has its own range.
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => IssueSearch.parse(search),
  loaderDeps: ({ search }) => ({ event: search.event ?? 'latest' }),
  loader: ({ context: { client }, params, deps, preload }) => {
    if (!preload) void client.query(issueEventQuery(params.issueId, deps.event)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/issues/page/issue-page.tsx'), 'IssuePage'),
})

const alerts = createRoute({
  getParentRoute: () => shell,
  path: '/alerts',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => AlertsSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (!preload) void client.infiniteQuery(openAlertsQuery(deps.project ?? null)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/alerts/alerts-frame.tsx'), 'AlertsFrame'),
})

const firing = createRoute({
  getParentRoute: () => alerts,
  path: '/',
  component: lazyRouteComponent(() => import('./features/alerts/firing-page.tsx'), 'FiringPage'),
})

const alertHistory = createRoute({
  getParentRoute: () => alerts,
  path: '/history',
  validateSearch: (search) => AlertHistorySearch.parse(search),
  component: lazyRouteComponent(() => import('./features/alerts/history-page.tsx'), 'HistoryPage'),
})

const alertRules = createRoute({
  getParentRoute: () => alerts,
  path: '/rules',
  component: lazyRouteComponent(() => import('./features/alerts/rules-page.tsx'), 'RulesPage'),
})

const newAlertRule = createRoute({
  getParentRoute: () => alerts,
  path: '/rules/new',
  validateSearch: (search) => NewRuleSearch.parse(search),
  component: lazyRouteComponent(() => import('./features/alerts/new-rule-page.tsx'), 'NewRulePage'),
})

const alertRule = createRoute({
  getParentRoute: () => alerts,
  path: '/rules/$ruleId',
  loader: ({ context: { client }, params, preload }) => {
    if (!preload) void client.query(alertRuleQuery(params.ruleId)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/alerts/rule-page.tsx'), 'RulePage'),
})

const issueEvents = createRoute({
  getParentRoute: () => shell,
  path: '/issues/$issueId/events',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => IssueEventsSearch.parse(search),
  component: lazyRouteComponent(() => import('./features/issues/page/events/events-page.tsx'), 'IssueEventsPage'),
})

const metrics = createRoute({
  getParentRoute: () => shell,
  path: '/metrics',
  staticData: { scope: { project: 'one', range: true, defaultRange: HEALTH_RANGE } },
  validateSearch: (search) => MetricsSearch.parse(search),
  component: lazyRouteComponent(() => import('./features/insights/metrics/metrics-page.tsx'), 'MetricsPage'),
})

const performance = createRoute({
  getParentRoute: () => shell,
  path: '/performance',
  staticData: { scope: { project: 'one', range: true, defaultRange: HEALTH_RANGE } },
  validateSearch: (search) => PerformanceSearch.parse(search),
  component: lazyRouteComponent(
    () => import('./features/telemetry/performance/performance-frame.tsx'),
    'PerformanceFrame',
  ),
})

const startUp = createRoute({
  getParentRoute: () => performance,
  path: '/',
  component: lazyRouteComponent(() => import('./features/telemetry/performance/start-page.tsx'), 'StartPage'),
})

const screens = createRoute({
  getParentRoute: () => performance,
  path: '/screens',
  component: lazyRouteComponent(() => import('./features/telemetry/performance/screens-page.tsx'), 'ScreensPage'),
})

const anr = createRoute({
  getParentRoute: () => performance,
  path: '/anr',
  component: lazyRouteComponent(() => import('./features/telemetry/performance/anr-page.tsx'), 'AnrPage'),
})

const battery = createRoute({
  getParentRoute: () => performance,
  path: '/battery',
  component: lazyRouteComponent(() => import('./features/telemetry/performance/battery-page.tsx'), 'BatteryPage'),
})

const releases = createRoute({
  getParentRoute: () => shell,
  path: '/releases',
  staticData: { scope: { project: 'one', range: true, defaultRange: RELEASE_RANGE } },
  validateSearch: (search) => ReleasesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    const view = releaseViewOf({ ...deps, project: deps.project })
    void client.infiniteQuery(releasesQuery(view)).catch(noop)
    void client.query(releasesHealthQuery(view)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/insights/releases/releases-page.tsx'), 'ReleasesPage'),
})

const release = createRoute({
  getParentRoute: () => shell,
  path: '/releases/$releaseId',
  staticData: { scope: { project: 'none', range: true, defaultRange: RELEASE_RANGE } },
  validateSearch: (search) => ReleasesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, params, deps, preload }) => {
    if (preload) return
    const { range = RELEASE_RANGE, environment = null } = deps
    void client.query(releaseQuery(params.releaseId, range, environment)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/insights/releases/release-page.tsx'), 'ReleasePage'),
})

const trace = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/traces/$traceId',
  staticData: { scope: { project: 'none', range: false } },
  loader: ({ context: { client }, params }) =>
    void client.query(traceQuery(params.projectId, params.traceId)).catch(noop),
  component: lazyRouteComponent(() => import('./features/telemetry/trace/trace-page.tsx'), 'TracePage'),
})

const intake = createRoute({
  getParentRoute: () => shell,
  path: '/intake',
  staticData: { scope: { project: 'one', range: true } },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    void client.query(intakeQuery(deps.project, deps.range ?? DEFAULT_RANGE)).catch(noop)
  },
  component: lazyRouteComponent(() => import('./features/ingest/intake/intake-page.tsx'), 'IntakePage'),
})

const chooseSettings = createRoute({
  getParentRoute: () => shell,
  path: '/projects',
  staticData: { scope: { project: 'one', range: false } },
  component: lazyRouteComponent(() => import('./features/projects/settings/choose-page.tsx'), 'ChooseSettingsPage'),
})

const projectSettings = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/settings',
  staticData: { scope: { project: 'one', range: false } },
  loader: ({ context, params }) => void context.client.query(projectSettingsQuery(params.projectId)).catch(noop),
  component: lazyRouteComponent(() => import('./features/projects/settings/project-frame.tsx'), 'ProjectSettingsFrame'),
})

const projectSettingsIndex = createRoute({
  getParentRoute: () => projectSettings,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ ...paths.projectGeneral(params.projectId), replace: true })
  },
})

const projectGeneral = createRoute({
  getParentRoute: () => projectSettings,
  path: '/general',
  component: lazyRouteComponent(() => import('./features/projects/settings/general-page.tsx'), 'ProjectGeneralPage'),
})

const projectKeys = createRoute({
  getParentRoute: () => projectSettings,
  path: '/keys',
  component: lazyRouteComponent(() => import('./features/projects/settings/keys-page.tsx'), 'ProjectKeysPage'),
})

const projectFilters = createRoute({
  getParentRoute: () => projectSettings,
  path: '/filters',
  component: lazyRouteComponent(() => import('./features/projects/settings/filters-page.tsx'), 'ProjectFiltersPage'),
})

const projectGrouping = createRoute({
  getParentRoute: () => projectSettings,
  path: '/grouping',
  component: lazyRouteComponent(
    () => import('./features/projects/settings/grouping/grouping-page.tsx'),
    'ProjectGroupingPage',
  ),
})

const projectScrubbing = createRoute({
  getParentRoute: () => projectSettings,
  path: '/scrubbing',
  component: lazyRouteComponent(
    () => import('./features/projects/settings/scrubbing/scrubbing-page.tsx'),
    'ProjectScrubbingPage',
  ),
})

const projectOwnership = createRoute({
  getParentRoute: () => projectSettings,
  path: '/ownership',
  component: lazyRouteComponent(
    () => import('./features/projects/settings/ownership-page.tsx'),
    'ProjectOwnershipPage',
  ),
})

const organisation = createRoute({
  getParentRoute: () => shell,
  path: '/org',
  staticData: { scope: { project: 'none', range: false } },
  component: lazyRouteComponent(
    () => import('./features/identity/organisation/organisation-frame.tsx'),
    'OrganisationFrame',
  ),
})

const organisationIndex = createRoute({
  getParentRoute: () => organisation,
  path: '/',
  beforeLoad: () => {
    throw redirect({ ...paths.members(), replace: true })
  },
})

const members = createRoute({
  getParentRoute: () => organisation,
  path: '/members',
  component: lazyRouteComponent(() => import('./features/identity/members/members-page.tsx'), 'MembersPage'),
})

const apiKeys = createRoute({
  getParentRoute: () => organisation,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./features/identity/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
})

const sso = createRoute({
  getParentRoute: () => organisation,
  path: '/sso',
  component: lazyRouteComponent(() => import('./features/identity/sso/sso-page.tsx'), 'SsoPage'),
})

const webhooks = createRoute({
  getParentRoute: () => organisation,
  path: '/webhooks',
  validateSearch: (search) => WebhooksSearch.parse(search),
  component: lazyRouteComponent(() => import('./features/integrations/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

/** The address of one endpoint, for links from outside. */
const webhook = createRoute({
  getParentRoute: () => organisation,
  path: '/webhooks/$endpointId',
  beforeLoad: ({ params }) => {
    throw redirect({ ...paths.webhooks({ endpoint: params.endpointId }), replace: true })
  },
})

const audit = createRoute({
  getParentRoute: () => organisation,
  path: '/audit',
  validateSearch: (search) => AuditSearch.parse(search),
  component: lazyRouteComponent(() => import('./features/history/audit/audit-page.tsx'), 'AuditPage'),
})

const me = createRoute({
  getParentRoute: () => shell,
  path: '/me',
  staticData: { scope: { project: 'none', range: false } },
  component: lazyRouteComponent(() => import('./features/identity/personal/personal-frame.tsx'), 'MeFrame'),
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
  component: lazyRouteComponent(() => import('./features/identity/personal/profile-page.tsx'), 'ProfilePage'),
})

const security = createRoute({
  getParentRoute: () => me,
  path: '/security',
  validateSearch: (search) => SecuritySearch.parse(search),
  component: lazyRouteComponent(() => import('./features/identity/personal/security-page.tsx'), 'SecurityPage'),
})

const sessions = createRoute({
  getParentRoute: () => me,
  path: '/sessions',
  component: lazyRouteComponent(() => import('./features/identity/personal/sessions-page.tsx'), 'SessionsPage'),
})

const notifications = createRoute({
  getParentRoute: () => me,
  path: '/notifications',
  loader: ({ context: { client } }) => {
    void client.query(preferencesQuery).catch(noop)
    void client.query(pushDevicesQuery).catch(noop)
  },
  component: lazyRouteComponent(
    () => import('./features/identity/personal/notifications-page.tsx'),
    'NotificationsPage',
  ),
})

const appearance = createRoute({
  getParentRoute: () => me,
  path: '/appearance',
  component: lazyRouteComponent(() => import('./features/identity/personal/appearance-page.tsx'), 'AppearancePage'),
})

const tree = root.addChildren([
  login,
  signup,
  forgot,
  reset,
  invite,
  confirmEmail,
  chatLink,
  unsubscribe,
  signedIn.addChildren([
    home,
    onboarding,
    shell.addChildren([
      issues,
      issue,
      alerts.addChildren([firing, alertHistory, alertRules, newAlertRule, alertRule]),
      issueEvents,
      metrics,
      performance.addChildren([startUp, screens, anr, battery]),
      releases,
      release,
      intake,
      trace,
      chooseSettings,
      projectSettings.addChildren([
        projectSettingsIndex,
        projectGeneral,
        projectKeys,
        projectFilters,
        projectScrubbing,
        projectOwnership,
        projectGrouping,
      ]),
      organisation.addChildren([organisationIndex, members, sso, apiKeys, webhooks, webhook, audit]),
      me.addChildren([meIndex, profile, security, sessions, notifications, appearance]),
    ]),
  ]),
])

/** The router; tests pass a history in memory. */
export function makeRouter(client: QueryClient, history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    context: { client },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultNotFoundComponent: NotFound,
    defaultErrorComponent: Crash,
    ...(history === undefined ? {} : { history }),
  })
}
