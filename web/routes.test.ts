import { QueryClient } from '@tanstack/react-query'
import { createMemoryHistory } from '@tanstack/react-router'
import { expect, test } from 'vitest'
import { scenesOf } from '../test/e2e/pictures/scenes.ts'
import { carried, paths } from './address/paths.ts'
import { makeRouter } from './routes.tsx'

const ID = '019a0000-0000-7000-8000-000000000001'

test('every link leads to an address', () => {
  const router = makeRouter(new QueryClient(), createMemoryHistory())
  const links = {
    home: paths.home(),
    login: paths.login(),
    members: paths.members(),
    sso: paths.sso(),
    apiKeys: paths.apiKeys(),
    projectIntegrations: paths.projectIntegrations(ID),
    imports: paths.imports(),
    import: paths.import(ID),
    loginSso: paths.loginSso(),
    loginDone: paths.loginDone('reset'),
    forgot: paths.forgot(),
    profile: paths.profile(),
    sessions: paths.sessions(),
    loginAfter: paths.loginAfter('theft', '/issues'),
    'login, then on': paths.login('/issues?range=7d'),
    signup: paths.signup(),
    onboarding: paths.onboarding(),
    'onboarding of a project': paths.onboarding({ project: ID, step: 'sdk' }),
    issues: paths.issues(),
    'issues, filtered': paths.issues({
      project: ID,
      range: '7d',
      status: ['regressed', 'escalated'],
      q: 'level:fatal checkout',
      sort: '-user_count',
    }),
    issue: paths.issue(ID),
    notifications: paths.notifications(),
    issueEvents: paths.issueEvents(ID, { only: 'release:1.2.0' }),
    'issue, an event': paths.issue(ID, { project: ID, event: 'oldest' }),
    chooseSettings: paths.chooseSettings(),
    projectGeneral: paths.projectGeneral(ID),
    projectKeys: paths.projectKeys(ID),
    projectFilters: paths.projectFilters(ID),
    projectGrouping: paths.projectGrouping(ID),
    projectScrubbing: paths.projectScrubbing(ID),
    projectOwnership: paths.projectOwnership(ID),
    alerts: paths.alerts({ project: ID }),
    alertHistory: paths.alertHistory({ state: ['firing', 'acknowledged'], rule: ID }),
    alertRules: paths.alertRules(),
    alertRule: paths.alertRule(ID),
    newAlertRule: paths.newAlertRule({ project: ID, trigger: 'performance_threshold', metric: 'anr_rate' }),
    metrics: paths.metrics({ project: ID, release: ['shop@4.12.0', 'web, beta'], compare: 'off' }),
    performance: paths.performance({ project: ID, device_class: ['low'] }),
    screens: paths.screens({ project: ID, screen: 'Checkout' }),
    anr: paths.anr({ project: ID }),
    transaction: paths.transaction('GET /v1/{id}'),
    battery: paths.battery({ project: ID }),
    feedback: paths.feedback({ project: ID, view: 'spam', q: 'pay', issue: ID, id: ID }),
    overview: paths.overview({ project: ID, range: '24h' }),
    logs: paths.logs({ project: ID, level: ['error'], with: ['region=eu'] }),
    traceMetrics: paths.traceMetrics({ project: ID, name: 'cart.size', show: 'p95' }),
    projectInstall: paths.projectInstall(ID),
    projectRetention: paths.projectRetention(ID),
    organisationGeneral: paths.organisationGeneral(),
    operator: paths.operator(),
    monitors: paths.monitors({ project: ID, state: 'attention', env: 'staging' }),
    monitor: paths.monitor(ID, { env: 'staging', kind: 'missed' }),
    releases: paths.releases({ project: ID }),
    release: paths.release(ID),
    traces: paths.traces({ project: ID, range: '7d', name: ['POST /pay'], result: ['error'], min: '300' }),
    trace: paths.trace('5e9af9902c22421daa90a2e961a31f89', { span: '5e9af9902c22421d' }),
    symbols: paths.symbols({ project: ID }),
    intake: paths.intake({ project: ID, range: '7d' }),
    ask: paths.ask({ project: ID, issue: ID, q: 'Why?' }),
    query: paths.query({ project: ID, sql: 'select 1' }),
    assistant: paths.assistant(),
    webhooks: paths.webhooks(),
    'webhooks, a delivery': paths.webhooks({ endpoint: ID, delivery: 'd_01hf0000000000000000000000', state: 'failed' }),
    audit: paths.audit({ action: 'webhook.*', from: '2026-11-20' }),
    appearance: paths.appearance(),
    security: paths.security(),
  }
  expect(Object.keys(paths).every((name) => Object.keys(links).includes(name))).toBe(true)
  expect(Object.fromEntries(Object.entries(links).map(([name, link]) => [name, router.buildLocation(link).href])))
    .toMatchInlineSnapshot(`
      {
        "alertHistory": "/alerts/history?state=firing&state=acknowledged&rule=019a0000-0000-7000-8000-000000000001",
        "alertRule": "/alerts/rules/019a0000-0000-7000-8000-000000000001",
        "alertRules": "/alerts/rules",
        "alerts": "/alerts?project=019a0000-0000-7000-8000-000000000001",
        "anr": "/performance/anr?project=019a0000-0000-7000-8000-000000000001",
        "apiKeys": "/org/api-keys",
        "appearance": "/me/appearance",
        "ask": "/ask?project=019a0000-0000-7000-8000-000000000001&issue=019a0000-0000-7000-8000-000000000001&q=Why%3F",
        "assistant": "/org/assistant",
        "audit": "/org/audit?action=webhook.*&from=2026-11-20",
        "battery": "/performance/battery?project=019a0000-0000-7000-8000-000000000001",
        "chooseSettings": "/projects",
        "feedback": "/feedback?project=019a0000-0000-7000-8000-000000000001&view=spam&q=pay&issue=019a0000-0000-7000-8000-000000000001&id=019a0000-0000-7000-8000-000000000001",
        "forgot": "/forgot",
        "home": "/",
        "import": "/org/import/019a0000-0000-7000-8000-000000000001",
        "imports": "/org/import",
        "intake": "/intake?project=019a0000-0000-7000-8000-000000000001&range=7d",
        "issue": "/issues/019a0000-0000-7000-8000-000000000001",
        "issue, an event": "/issues/019a0000-0000-7000-8000-000000000001?project=019a0000-0000-7000-8000-000000000001&event=oldest",
        "issueEvents": "/issues/019a0000-0000-7000-8000-000000000001/events?only=release%3A1.2.0",
        "issues": "/issues",
        "issues, filtered": "/issues?project=019a0000-0000-7000-8000-000000000001&range=7d&status=regressed&status=escalated&q=level%3Afatal+checkout&sort=-user_count",
        "login": "/login",
        "login, then on": "/login?next=%2Fissues%3Frange%3D7d",
        "loginAfter": "/login?next=%2Fissues&ended=theft",
        "loginDone": "/login?done=reset",
        "loginSso": "/login?step=sso",
        "logs": "/logs?project=019a0000-0000-7000-8000-000000000001&level=error&with=region%3Deu",
        "members": "/org/members",
        "metrics": "/metrics?project=019a0000-0000-7000-8000-000000000001&release=shop%404.12.0&release=web%2C+beta&compare=off",
        "monitor": "/monitors/019a0000-0000-7000-8000-000000000001?env=staging&kind=missed",
        "monitors": "/monitors?project=019a0000-0000-7000-8000-000000000001&state=attention&env=staging",
        "newAlertRule": "/alerts/rules/new?project=019a0000-0000-7000-8000-000000000001&trigger=performance_threshold&metric=anr_rate",
        "notifications": "/me/notifications",
        "onboarding": "/onboarding",
        "onboarding of a project": "/onboarding?project=019a0000-0000-7000-8000-000000000001&step=sdk",
        "operator": "/operator",
        "organisationGeneral": "/org/general",
        "overview": "/overview?project=019a0000-0000-7000-8000-000000000001&range=24h",
        "performance": "/performance?project=019a0000-0000-7000-8000-000000000001&device_class=low",
        "profile": "/me/profile",
        "projectFilters": "/projects/019a0000-0000-7000-8000-000000000001/settings/filters",
        "projectGeneral": "/projects/019a0000-0000-7000-8000-000000000001/settings/general",
        "projectGrouping": "/projects/019a0000-0000-7000-8000-000000000001/settings/grouping",
        "projectInstall": "/projects/019a0000-0000-7000-8000-000000000001/settings/install",
        "projectIntegrations": "/projects/019a0000-0000-7000-8000-000000000001/settings/integrations",
        "projectKeys": "/projects/019a0000-0000-7000-8000-000000000001/settings/keys",
        "projectOwnership": "/projects/019a0000-0000-7000-8000-000000000001/settings/ownership",
        "projectRetention": "/projects/019a0000-0000-7000-8000-000000000001/settings/retention",
        "projectScrubbing": "/projects/019a0000-0000-7000-8000-000000000001/settings/scrubbing",
        "query": "/query?project=019a0000-0000-7000-8000-000000000001&sql=select+1",
        "release": "/releases/019a0000-0000-7000-8000-000000000001",
        "releases": "/releases?project=019a0000-0000-7000-8000-000000000001",
        "screens": "/performance/screens?project=019a0000-0000-7000-8000-000000000001&screen=Checkout",
        "security": "/me/security",
        "sessions": "/me/sessions",
        "signup": "/signup",
        "sso": "/org/sso",
        "symbols": "/symbols?project=019a0000-0000-7000-8000-000000000001",
        "trace": "/traces/5e9af9902c22421daa90a2e961a31f89?span=5e9af9902c22421d",
        "traceMetrics": "/trace-metrics?project=019a0000-0000-7000-8000-000000000001&name=cart.size&show=p95",
        "traces": "/traces?project=019a0000-0000-7000-8000-000000000001&range=7d&name=POST+%2Fpay&result=error&min=300",
        "transaction": "/performance/t/GET%20%2Fv1%2F%7Bid%7D",
        "webhooks": "/org/webhooks",
        "webhooks, a delivery": "/org/webhooks?endpoint=019a0000-0000-7000-8000-000000000001&delivery=d_01hf0000000000000000000000&state=failed",
      }
    `)
})

test('project and range travel along, filters do not', () => {
  const search = { project: ID, range: '7d' as const, q: 'timeout' }
  expect(carried(search)).toEqual({ project: ID, range: '7d' })
})

/** Addresses that lead to another one. */
const REDIRECTS = [
  '/',
  '/me',
  '/org',
  '/org/webhooks/$endpointId',
  '/projects/$projectId/settings',
  '/projects/$projectId/traces/$traceId',
]

test('`npm run pictures` takes a picture of every page', () => {
  const router = makeRouter(new QueryClient(), createMemoryHistory())
  const names = new Proxy({}, { get: () => ID })
  const scenes = scenesOf(
    new Proxy({} as Parameters<typeof scenesOf>[0], { get: (_, key) => (key === 'issues' ? names : ID) }),
  )
  const pictured = scenes.map(({ address }) => {
    const { pathname } = new URL(address, 'http://faultline.example')
    return router.matchRoutes(pathname, {}).at(-1)?.fullPath ?? pathname
  })
  const plain = (path: string): string => path.replace(/(?<=.)\/$/, '')
  const pages = Object.values(router.routesByPath).map(({ fullPath }) => plain(fullPath))
  const missing = new Set(pages).difference(new Set([...pictured.map(plain), ...REDIRECTS]))
  expect([...missing]).toEqual([])
})
