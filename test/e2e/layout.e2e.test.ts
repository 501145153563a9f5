import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Answer } from '../kit/client.ts'
import { anEvent, dsnParts } from '../kit/sdk.ts'
import { seedDeliveries } from '../kit/seed-deliveries.ts'
import { aRule, fire } from './alerts-world.ts'
import { screenshot, settled, visit } from './browser.ts'
import { testDashboard } from './dashboard.ts'
import { aHealthWorld, counted, NEW } from './health-world.ts'
import { pastLines } from './logs-world.ts'
import { NIGHTLY, pastRuns } from './monitors-world.ts'
import { layoutFaultsAt, LAYOUT_WIDTHS } from './layout.ts'

/**
 * Every page at every width in both themes, with the long names of a real organisation: nothing overlaps, is cut off,
 * breaks within a word or scrolls sideways. Each page is visited once and resized in place.
 */

const dashboard = await testDashboard()
const { server } = dashboard
const id = (bytes: number): string => randomBytes(bytes).toString('hex')

const UNBROKEN = 'MeadowlarkShopperAndroidEuropeProductionReleaseCandidate'
const RELEASE = 'com.meadowlark.shopper.europe.production@4.12.0-release-candidate.3+41200'

/** Fails the set-up with the refusal. */
function made(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

/** An organisation whose every name is long. */
async function aWorldOfLongNames() {
  const { person, project } = await aHealthWorld(server)
  made(await person.patch('/api/me', { name: 'Maximiliane Oppenheimer-Schwarzenbach von Hohenlohe' }))
  made(
    await person.patch(`/api/projects/${project.id}/settings`, {
      name: 'Meadowlark Shopper for Android, European production build',
      critical_paths: ['com.meadowlark.shopper.checkout.CheckoutFragment.*'],
      scrub_rules: [{ path: 'request.headers.x-customer-authentication-token', pattern: 'anything', action: 'hash' }],
      ownership_rules: [
        {
          match: 'path',
          glob: `app/src/main/kotlin/com/meadowlark/${UNBROKEN}/**`,
          team: 'payments-and-checkout-europe',
        },
      ],
    }),
  )
  await server.project(person, { name: UNBROKEN, platform: 'web' })
  await server.member(person, {
    name: 'Wolfeschlegelsteinhausenbergerdorff Senior',
    email: 'wolfeschlegelsteinhausenbergerdorff.senior.of.the.payments.team@meadowlark.example',
    role: 'admin',
  })
  made(
    await person.post('/api/invites', {
      emails: ['a.new.member.with.a.remarkably.long.address.in.the.operations.team@meadowlark.example'],
      role: 'viewer',
    }),
  )
  made(
    await person.post('/api/api-keys', {
      name: 'Upload of releases and source maps from the European pipeline',
      scopes: ['read'],
    }),
  )
  const endpoint = made(
    await person.post('/api/webhooks', {
      url: `https://hooks.integration.operations.meadowlark.example/v1/webhooks/${UNBROKEN}?region=eu-central-1`,
      description: 'Security events for the operations centre, forwarded to the archive of the audit department',
    }),
  )
  const endpointId = String(endpoint.body['id'])
  await seedDeliveries(server.app, endpointId, new Date(), 'y')
  const rule = await aRule(person, {
    projectId: project.id,
    name: 'Cold start of the European production build is slower than the store allows',
    trigger_type: 'performance_threshold',
    actions: [{ type: 'email', to: 'team' }],
  })
  const alertId = await fire(server, rule, { title: 'Cold start P95 over 5 s in the European production build' })
  const traceId = await aFailedCheckout(project.dsn)
  const issue = await server.issue({
    project,
    by: person,
    times: 4,
    error: {
      in: 'restorePaymentSheet',
      type: `${UNBROKEN}Exception`,
      value: 'Fragment CheckoutFragment{4f2a} not attached to a context while the payment sheet was restored',
    },
    level: 'fatal',
    release: RELEASE,
    environment: 'production-europe-west-canary',
    transaction: 'com.meadowlark.shopper.checkout.CheckoutFragment.onPaymentSheetResult',
    user: { id: 'u7', email: 'customer.with.a.remarkably.long.address.for.tests@meadowlark.example' },
    tags: { [`build_flavour_${'x'.repeat(20)}`]: UNBROKEN, store: 'large', locale: 'en-GB' },
    contexts: { trace: { trace_id: traceId, span_id: id(8) }, os: { name: 'Android', version: '15' } },
  })
  made(await person.post(`/api/issues/${issue.id}/comments`, { body: `Seen in ${UNBROKEN} and in \`${RELEASE}\`.` }))
  await counted(server)
  const { items } = (await person.get(`/api/releases?projectId=${project.id}`)).as<{
    items: { id: string; version: string }[]
  }>()
  const releases = [RELEASE, NEW].map((version) => items.find((one) => one.version === version)?.id ?? 'unknown')
  await pastRuns(server, project.id, 'synchronise-prices-of-every-warehouse-with-the-european-catalogue', [
    { minutesAgo: 3_000, config: { ...NIGHTLY, timezone: 'America/Argentina/ComodRivadavia' }, release: RELEASE },
    { minutesAgo: 30, config: null, environment: UNBROKEN.toLowerCase().slice(0, 64), release: NEW, traceId },
    { minutesAgo: 9, config: null, status: 'error', release: NEW, traceId },
  ])
  await pastLines(server, project.id)
  const { items: monitors } = (await person.get('/api/monitors')).as<{ items: { id: string }[] }>()
  return { person, project, issue, rule, alertId, traceId, releases, monitorId: monitors[0]?.id ?? 'unknown' }
}

/** A trace whose spans have long descriptions. */
async function aFailedCheckout(dsn: string): Promise<string> {
  const { key, projectNumber } = dsnParts(dsn)
  const trace = id(16)
  const root = id(8)
  const end = Date.now() / 1_000
  const spans = ['db.query', 'http.client'].map((op, index) => ({
    trace_id: trace,
    span_id: id(8),
    parent_span_id: root,
    op,
    description: `${op} price the cart and apply every discount that the customer of ${UNBROKEN} may have`,
    start_timestamp: end - 1 + index * 0.3,
    timestamp: end - 0.8 + index * 0.3,
    status: 'ok',
  }))
  const transaction = {
    ...anEvent({ exception: undefined, level: undefined, platform: 'android', release: RELEASE }),
    type: 'transaction',
    transaction: 'com.meadowlark.shopper.checkout.CheckoutFragment.onPaymentSheetResult',
    start_timestamp: end - 1,
    timestamp: end,
    contexts: { trace: { trace_id: trace, span_id: root, op: 'ui.load', status: 'ok' } },
    spans,
  }
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n{"type":"transaction"}\n${JSON.stringify(transaction)}\n`,
  })
  expect(answer.status).toBe(200)
  await answer.text()
  return trace
}

const world = await aWorldOfLongNames()

type Visit = { readonly address: string; readonly hasChart?: boolean }

/** Pages of one list are visited one after another, the lists beside each other. */
function visits(): readonly (readonly Visit[])[] {
  const { project, issue, rule, alertId, traceId, releases, monitorId } = world
  const plain = (address: string): Visit => ({ address })
  const chart = (address: string): Visit => ({ address, hasChart: true })
  const settings = (part: string): Visit => plain(`/projects/${project.id}/settings/${part}`)
  const of = `project=${project.id}`
  return [
    [
      chart(`/issues?${of}`),
      chart('/issues?range=30d'),
      chart(`/issues/${issue.id}`),
      plain(`/issues/${issue.id}/events`),
      plain(`/traces/${traceId}`),
      chart('/traces?range=7d'),
      chart(`/metrics?${of}&range=7d`),
      chart(`/performance?${of}&range=7d`),
      chart(`/performance/screens?${of}&range=7d`),
      chart(`/performance/anr?${of}&range=7d`),
      chart(`/performance/battery?${of}&range=7d`),
      plain(`/overview?${of}&range=7d`),
      chart(`/logs?${of}`),
      chart(`/trace-metrics?${of}`),
      plain(`/feedback?${of}`),
      chart(`/performance/t/Checkout?${of}&range=7d`),
      plain(`/monitors?${of}`),
      chart(`/monitors/${monitorId}`),
      chart(`/releases?${of}&range=7d`),
      ...releases.map((one) => chart(`/releases/${one}`)),
      chart(`/intake?${of}`),
      plain(`/ask?${of}`),
      plain(`/query?${of}`),
    ],
    [
      plain(`/alerts?alert=${alertId}`),
      plain('/alerts/history'),
      plain('/alerts/rules'),
      chart(`/alerts/rules/${rule.id}`),
      chart(`/alerts/rules/new?${of}`),
      ...[
        'general',
        'keys',
        'install',
        'retention',
        'filters',
        'grouping',
        'scrubbing',
        'ownership',
        'integrations',
      ].map(settings),
      chart('/org/webhooks'),
      ...['members', 'sso', 'api-keys', 'assistant', 'import', 'audit'].map((part) => plain(`/org/${part}`)),
      ...['profile', 'security', 'sessions', 'notifications', 'appearance'].map((part) => plain(`/me/${part}`)),
      plain('/operator'),
      plain('/onboarding?step=project'),
      plain(`/onboarding?${of}`),
      plain('/no/such/page'),
    ],
  ]
}

async function faultsOf(list: readonly Visit[]): Promise<string[]> {
  const page = await dashboard.openAs(world.person)
  const faults: string[] = []
  await page.goto('/me/appearance')
  await settled(page)
  for (const { address, hasChart = false } of list) {
    await visit(page, address)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await settled(page)
    for (const width of hasChart ? [320, ...LAYOUT_WIDTHS] : LAYOUT_WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      faults.push(...(await layoutFaultsAt(page, `${address} at ${width}`)))
      await screenshot(page, `layout${address.replaceAll(/[^a-z]+/g, '-').slice(0, 40)}-${width}`, { fullPage: true })
    }
  }
  return faults
}

test('no page overlaps, clips, breaks words or scrolls sideways, at any width, in both themes', async () => {
  const lists = visits()
  const visitor = await dashboard.open()
  const faults = (await Promise.all(lists.map(faultsOf))).flat()
  for (const address of ['/login', '/signup', '/forgot']) {
    await visitor.goto(address)
    await visitor.getByRole('button').first().waitFor()
    await settled(visitor)
    for (const width of LAYOUT_WIDTHS) {
      await visitor.setViewportSize({ width, height: 900 })
      faults.push(...(await layoutFaultsAt(visitor, `${address} at ${width}`)))
    }
  }
  expect(faults).toEqual([])
}, 300_000)
