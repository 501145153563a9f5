import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { AlertHistorySearch, AlertsSearch, NewRuleSearch } from '../../address/search.ts'
import { prefetch, shell } from '../../app/base-routes.ts'

// No part of the first load of other pages.
const queries = () => import('../../api/alert-queries.ts')

const alerts = createRoute({
  getParentRoute: () => shell,
  path: '/alerts',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => AlertsSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (!preload)
      prefetch(queries().then(({ openAlertsQuery }) => client.infiniteQuery(openAlertsQuery(deps.project ?? null))))
  },
  component: lazyRouteComponent(() => import('./alerts-frame.tsx'), 'AlertsFrame'),
})

const firing = createRoute({
  getParentRoute: () => alerts,
  path: '/',
  component: lazyRouteComponent(() => import('./firing-page.tsx'), 'FiringPage'),
})

const alertHistory = createRoute({
  getParentRoute: () => alerts,
  path: '/history',
  validateSearch: (search) => AlertHistorySearch.parse(search),
  component: lazyRouteComponent(() => import('./history-page.tsx'), 'HistoryPage'),
})

const alertRules = createRoute({
  getParentRoute: () => alerts,
  path: '/rules',
  component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
})

const newAlertRule = createRoute({
  getParentRoute: () => alerts,
  path: '/rules/new',
  validateSearch: (search) => NewRuleSearch.parse(search),
  component: lazyRouteComponent(() => import('./new-rule-page.tsx'), 'NewRulePage'),
})

const alertRule = createRoute({
  getParentRoute: () => alerts,
  path: '/rules/$ruleId',
  loader: ({ context: { client }, params, preload }) => {
    if (!preload) prefetch(queries().then(({ alertRuleQuery }) => client.query(alertRuleQuery(params.ruleId))))
  },
  component: lazyRouteComponent(() => import('./rule-page.tsx'), 'RulePage'),
})

export const alertRoutes = [alerts.addChildren([firing, alertHistory, alertRules, newAlertRule, alertRule])] as const
