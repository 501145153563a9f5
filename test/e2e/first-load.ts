import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { insertMessage } from '../kit/route-examples.ts'
import { aProject } from '../kit/founder.ts'
import { anEvent, newEventId, sendEvent } from '../kit/sdk.ts'
import { fakeSentry, SOURCE_ORG } from '../kit/fake-sentry.ts'
import { aRule } from './alerts-world.ts'
import { settled } from './browser.ts'
import type { Dashboard, Person } from './dashboard.ts'
import { aHealthWorld, counted } from './health-world.ts'
import { pastLines } from './logs-world.ts'
import { pastRuns } from './monitors-world.ts'

/** A page of the dashboard, and a text of its first content. */
export type FirstPage = { readonly address: string; readonly as: Person | null; readonly text: string }

type Sizes = { readonly jsBytes: number; readonly cssBytes: number }

/** The scripts and styles that a browser has asked for when the first content of a page stands. */
export type FirstLoad = {
  readonly files: readonly string[]
  /** As this browser received them. */
  readonly transferred: Sizes
  /** As a browser receives them that takes no brotli: every browser, where the address is neither https nor local. */
  readonly gzip: Sizes
}

const dist = join(import.meta.dirname, '../../web/dist')
const PATIENCE_MS = 30_000

const Requested = z.array(z.object({ path: z.string(), bytes: z.number() }))

/** Opens the page in a new document. Bytes are those of bodies, without headers. */
export async function firstLoad(dashboard: Dashboard, { address, as, text }: FirstPage): Promise<FirstLoad> {
  const page = await (as === null ? dashboard.open() : dashboard.openAs(as))
  try {
    await page.goto(address, { waitUntil: 'commit' })
    // In the page itself: asking from outside would count what it loads meanwhile.
    const stoodMs = z.number().parse(
      await page.evaluate(`new Promise((resolve, reject) => {
        const look = () => {
          const main = document.querySelector('main')
          if (document.querySelector('h1') !== null && main?.textContent.includes(${JSON.stringify(text)}))
            resolve(performance.now())
          else if (performance.now() > ${PATIENCE_MS}) reject(new Error('no ' + ${JSON.stringify(text)} + ' in: ' + main?.innerText))
          else requestAnimationFrame(look)
        }
        look()
      })`),
    )
    // A file under way counts too; its size is known when it has arrived.
    await settled(page)
    const requested = Requested.parse(
      await page.evaluate(`performance.getEntriesByType('resource')
        .filter(({ name, startTime }) => startTime <= ${stoodMs} && /\\.(js|css)$/.test(name))
        .map(({ name, encodedBodySize }) => ({ path: new URL(name).pathname, bytes: encodedBodySize }))`),
    )
    return {
      files: requested.map(({ path }) => path),
      transferred: sizesOf(requested),
      gzip: sizesOf(requested.map(({ path }) => ({ path, bytes: gzipBytesOf(path) }))),
    }
  } finally {
    await page.close()
  }
}

const sizesOf = (files: z.infer<typeof Requested>): Sizes => {
  const sum = (ending: string) =>
    files.filter(({ path }) => path.endsWith(ending)).reduce((total, { bytes }) => total + bytes, 0)
  return { jsBytes: sum('.js'), cssBytes: sum('.css') }
}

/** Small files have no compressed form. */
const gzipBytesOf = (path: string): number =>
  (statSync(join(dist, `${path}.gz`), { throwIfNoEntry: false }) ?? statSync(join(dist, path))).size

/** The files of the build that hold a page of a route. */
export const pageFiles = (): string[] =>
  readdirSync(join(dist, 'assets'))
    .filter((name) => /-page-[\w-]{7}\.js$/.test(name))
    .map((name) => `/assets/${name}`)

/** Every page of the dashboard, by its route, in an organisation that uses it. */
export async function firstPages({ server }: Dashboard): Promise<Record<string, FirstPage>> {
  const { person, project } = await aHealthWorld(server)
  const web = await aProject(person, { name: 'shopper-web' })
  const trace = await aTrace(server.url, web.dsn)
  const rule = await aRule(person, { projectId: project.id, name: 'Slow', trigger_type: 'performance_threshold' })
  await counted(server)
  const first = async (path: string) => First.parse((await person.get(path)).body).items[0].id
  const issue = await first('/api/issues?limit=1&sort=-event_count')
  await pastLines(server, web.id)
  await pastRuns(server, web.id, 'price-feed', [{ minutesAgo: 12 }, { minutesAgo: 7 }])
  const monitor = await first('/api/monitors')
  await insertMessage(server.app, web.id, { message: 'The map stays blank.' })
  const release = await first(`/api/releases?projectId=${project.id}`)
  const source = await fakeSentry(new Date(), [
    { id: '7', slug: 'shop', platform: 'javascript', publicKey: 'd'.repeat(32), issues: [] },
  ])
  const given = { url: source.url, organisation: SOURCE_ORG, token: source.token }
  const importId = String((await person.post('/api/org/imports', given)).body['id'])
  const settings = `/projects/${project.id}/settings`
  const inProject = `?project=${project.id}`
  return {
    ...pagesOf(null, {
      '/login': ['/login', 'Log in'],
      '/signup': ['/signup', 'Create organisation'],
      '/forgot': ['/forgot', 'Reset your password'],
      '/reset': ['/reset?token=one', 'Choose a new password'],
      '/invite': ['/invite?token=one', 'no longer works'],
      '/confirm-email': ['/confirm-email?token=one', 'Confirm'],
      '/chat/link': ['/chat/link#token=one', 'Link your chat user'],
      '/unsubscribe': ['/unsubscribe#token=one', 'Stop'],
    }),
    ...pagesOf(person, {
      '/onboarding': [`/onboarding${inProject}`, 'Send your first event'],
      '/issues': ['/issues', 'checkoutError'],
      '/issues/$issueId': [`/issues/${issue}`, 'src/'],
      '/issues/$issueId/events': [`/issues/${issue}/events`, 'install-'],
      '/feedback': ['/feedback', 'The map stays blank'],
      '/alerts': ['/alerts', 'Nothing is firing'],
      '/alerts/history': ['/alerts/history', 'No alert'],
      '/alerts/rules': ['/alerts/rules', 'Slow'],
      '/alerts/rules/new': [`/alerts/rules/new${inProject}`, 'An issue spikes'],
      '/alerts/rules/$ruleId': [`/alerts/rules/${rule.id}`, 'Performance'],
      '/metrics': [`/metrics${inProject}`, 'Crash-free'],
      '/performance': [`/performance${inProject}`, 'Checkout'],
      '/performance/screens': [`/performance/screens${inProject}`, 'Checkout'],
      '/performance/anr': [`/performance/anr${inProject}`, 'SharedPreferencesImpl.commit'],
      '/performance/t/$name': [`/performance/t/Checkout${inProject}`, 'Sample traces'],
      '/performance/battery': [`/performance/battery${inProject}`, 'Battery drain'],
      '/overview': [`/overview${inProject}`, 'Crash rate'],
      '/logs': [`/logs?project=${web.id}`, 'token exchange refused'],
      '/trace-metrics': [`/trace-metrics?project=${web.id}`, 'queue.depth'],
      '/monitors': ['/monitors', 'price-feed'],
      '/monitors/$monitorId': [`/monitors/${monitor}`, 'Every 5 minutes'],
      '/releases': [`/releases${inProject}`, '4.12.0'],
      '/releases/$releaseId': [`/releases/${release}`, '4.12.0'],
      '/symbols': [`/symbols${inProject}`, 'No files yet'],
      '/intake': [`/intake${inProject}`, 'Accepted'],
      '/projects': ['/projects', 'shopper-android'],
      '/traces/$traceId': [`/traces/${trace}`, 'select * from carts'],
      '/traces': ['/traces', 'newest first'],
      '/projects/$projectId/settings/general': [`${settings}/general`, 'Short name'],
      '/ask': [`/ask${inProject}`, 'Ask about your apps'],
      '/query': [`/query${inProject}`, 'What can be read'],
      '/org/assistant': ['/org/assistant', 'Built-in analyst'],
      '/projects/$projectId/settings/keys': [`${settings}/keys`, 'Rate limit'],
      '/projects/$projectId/settings/install': [`${settings}/install`, 'Add the SDK'],
      '/projects/$projectId/settings/retention': [`${settings}/retention`, 'Keep events for'],
      '/projects/$projectId/settings/filters': [`${settings}/filters`, 'localhost'],
      '/projects/$projectId/settings/grouping': [`${settings}/grouping`, 'Add rule'],
      '/projects/$projectId/settings/scrubbing': [`${settings}/scrubbing`, 'Add rule'],
      '/projects/$projectId/settings/ownership': [`${settings}/ownership`, 'Add rule'],
      '/projects/$projectId/settings/integrations': [`${settings}/integrations`, 'Not connected'],
      '/org/general': ['/org/general', 'Short name'],
      '/org/members': ['/org/members', person.email],
      '/org/sso': ['/org/sso', 'Issuer'],
      '/org/api-keys': ['/org/api-keys', 'No API keys yet'],
      '/org/import': ['/org/import', 'Connect a source'],
      '/org/import/$importId': [`/org/import/${importId}`, 'Mapping'],
      '/org/webhooks': ['/org/webhooks', 'No endpoints yet'],
      '/org/audit': ['/org/audit', 'project.created'],
      '/operator': ['/operator', 'Days left'],
      '/me/profile': ['/me/profile', person.email],
      '/me/security': ['/me/security', 'Passkeys'],
      '/me/sessions': ['/me/sessions', 'this session'],
      '/me/notifications': ['/me/notifications', 'E-mail'],
      '/me/appearance': ['/me/appearance', 'Theme'],
    }),
  }
}

const First = z.object({ items: z.tuple([z.object({ id: z.string() })]).rest(z.unknown()) })

const pagesOf = (as: Person | null, pages: Record<string, readonly [address: string, text: string]>) =>
  Object.fromEntries(Object.entries(pages).map(([route, [address, text]]) => [route, { address, as, text }] as const))

/** A trace with a span, in which an error happens. */
async function aTrace(url: string, dsn: string): Promise<string> {
  const { username: key, pathname } = new URL(dsn)
  const trace_id = newEventId()
  const [root, span] = [newEventId().slice(16), newEventId().slice(16)]
  const start_timestamp = Date.now() / 1000 - 2
  const times = { start_timestamp, timestamp: start_timestamp + 1 }
  const transaction = {
    type: 'transaction',
    transaction: 'POST /checkout',
    ...times,
    contexts: { trace: { trace_id, span_id: root, op: 'http.server', status: 'ok' } },
    spans: [{ trace_id, span_id: span, parent_span_id: root, op: 'db', description: 'select * from carts', ...times }],
  }
  const { status } = await fetch(`${url}/api${pathname}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n{"type":"transaction"}\n${JSON.stringify(transaction)}\n`,
  })
  if (status !== 200) throw new Error(`the intake answered ${status} to a transaction`)
  await sendEvent(url, dsn, anEvent({ contexts: { trace: { trace_id, span_id: span } } }))
  return trace_id
}
