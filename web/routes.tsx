import type { QueryClient } from '@tanstack/react-query'
import { createRouter, lazyRouteComponent, type RouterHistory } from '@tanstack/react-router'
import { Crash } from './shell/crash.tsx'
import { Root } from './shell/root.tsx'
import { Shell } from './shell/shell.tsx'
import { SignedIn } from './shell/signed-in.tsx'
import { organisation, projectSettings, root, shell, signedIn } from './app/base-routes.ts'
import { parseSearch, stringifySearch } from './address/search.ts'
import { accountRoutes } from './features/identity/accounts/accounts.routes.ts'
import { onboardingRoutes } from './features/projects/onboarding/onboarding.routes.ts'
import { issueListRoutes } from './features/issues/list/list.routes.ts'
import { feedbackRoutes } from './features/issues/feedback/feedback.routes.ts'
import { issuePageRoutes } from './features/issues/page/page.routes.ts'
import { alertRoutes } from './features/alerts/alerts.routes.ts'
import { metricRoutes } from './features/insights/metrics/metrics.routes.ts'
import { performanceRoutes } from './features/telemetry/performance/performance.routes.ts'
import { monitorRoutes } from './features/telemetry/monitors/monitors.routes.ts'
import { logRoutes } from './features/telemetry/logs/logs.routes.ts'
import { overviewRoutes } from './features/insights/overview/overview.routes.ts'
import { releaseRoutes } from './features/insights/releases/releases.routes.ts'
import { traceRoutes } from './features/telemetry/trace/trace.routes.ts'
import { operatorRoutes } from './features/service/operator/operator.routes.ts'
import { symbolRoutes } from './features/symbols/files/files.routes.ts'
import { askRoutes } from './features/assistant/ask/ask.routes.ts'
import { queryRoutes } from './features/assistant/query/query.routes.ts'
import { assistantStateRoutes } from './features/assistant/state/state.routes.ts'
import { intakeRoutes } from './features/ingest/intake/intake.routes.ts'
import {
  chooseSettingsRoutes,
  projectSettingsFrame,
  projectSettingsRoutes,
} from './features/projects/settings/settings.routes.ts'
import { connectionRoutes } from './features/integrations/connections/connections.routes.ts'
import { organisationFrame, organisationRoutes } from './features/identity/organisation/organisation.routes.ts'
import { memberRoutes } from './features/identity/members/members.routes.ts'
import { importsRoutes } from './features/integrations/imports/imports.routes.ts'
import { apiKeyRoutes } from './features/identity/api-keys/api-keys.routes.ts'
import { ssoRoutes } from './features/identity/sso/sso.routes.ts'
import { webhookRoutes } from './features/integrations/webhooks/webhooks.routes.ts'
import { auditRoutes } from './features/history/audit/audit.routes.ts'
import { personalRoutes } from './features/identity/personal/personal.routes.ts'

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

const NotFound = lazyRouteComponent(() => import('./shell/not-found.tsx'), 'NotFound')

root.update({ component: Root, notFoundComponent: NotFound, errorComponent: Crash })
signedIn.update({ component: SignedIn })
shell.update({ component: Shell })
organisation.update(organisationFrame)
projectSettings.update(projectSettingsFrame)

const tree = root.addChildren([
  ...accountRoutes,
  signedIn.addChildren([
    ...onboardingRoutes,
    shell.addChildren([
      ...issueListRoutes,
      ...issuePageRoutes,
      ...feedbackRoutes,
      ...alertRoutes,
      ...metricRoutes,
      ...performanceRoutes,
      ...overviewRoutes,
      ...logRoutes,
      ...monitorRoutes,
      ...releaseRoutes,
      ...symbolRoutes,
      ...intakeRoutes,
      ...askRoutes,
      ...queryRoutes,
      ...traceRoutes,
      ...operatorRoutes,
      ...chooseSettingsRoutes,
      projectSettings.addChildren([...projectSettingsRoutes, ...connectionRoutes]),
      organisation.addChildren([
        ...organisationRoutes,
        ...memberRoutes,
        ...ssoRoutes,
        ...apiKeyRoutes,
        ...importsRoutes,
        ...webhookRoutes,
        ...assistantStateRoutes,
        ...auditRoutes,
      ]),
      ...personalRoutes,
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
