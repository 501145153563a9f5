import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { target } from '#bench/intake.ts'
import { runLoad } from '#bench/load.ts'
import { makeEvents } from '#bench/payloads.ts'
import { startService } from '#bench/service.ts'
import { setUpProject } from '#bench/setup-project.ts'
import { AlertMessage } from '#server/alerts/rules/alert-message.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { onNewDatabase } from './on-new-database.ts'
import { waitUntilDigested } from './target.ts'
import { type Claim, claim, print, type TortureArgs } from './torture.ts'

const CONNECTIONS = 16
const RULES = ['new_issue', 'issue_spike']

/** Two services on one database take very many events of one issue, which two rules are about. */
export const alertFlood = ({ seed, full, options }: TortureArgs): Promise<Claim[]> =>
  onNewDatabase(async ({ connectionString }) => {
    const count = Number(options['events'] ?? (full ? 100_000 : 10_000))
    const receiver = await startReceiver()
    const env = {
      DATABASE_URL: connectionString,
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      RATE_LIMIT_SCALE: '0',
      LOG_LEVEL: 'silent',
    }
    const services = [await startService({ env }), await startService({ env })]
    try {
      const [{ url } = { url: '' }] = services
      const project = await setUpProject(url)
      const call = async (path: string, body?: unknown): Promise<unknown> => {
        const answer = await fetch(url + path, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { 'content-type': 'application/json', origin: url, cookie: project.cookie },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
        return answer.json()
      }
      for (const trigger of RULES)
        await call('/api/alerts', {
          projectId: project.projectId,
          name: trigger,
          trigger_type: trigger,
          actions: [{ type: 'webhook', webhook_url: `${receiver.url}/${trigger}` }],
        })
      const events = makeEvents({ sizeBytes: 2_000, issues: 1, variantsPerIssue: 4, seed })
      const loads = await Promise.all(
        services.map((service) =>
          runLoad({
            ...target(service.url, project),
            events,
            connections: CONNECTIONS,
            ratePerSecond: null,
            durationMs: 600_000,
            maxRequests: count / services.length,
          }),
        ),
      )
      for (const service of services) await waitUntilDigested(service.url)
      const accepted = loads.reduce((sum, load) => sum + load.accepted, 0)
      const fired = async (): Promise<string[]> =>
        Fired.parse(await call('/api/alerts/fired?limit=100')).items.map((alert) => alert.trigger_type)
      // The rule about numbers is evaluated every minute.
      const deadline = performance.now() + 130_000
      while (!(await fired()).includes('issue_spike') && performance.now() < deadline) await delay(500)
      // The next minute fires nothing.
      if (full) await delay(65_000)
      else await delay(2_000)
      const { items } = Issues.parse(await call('/api/issues?limit=100'))
      const sent = receiver.requests.map(({ body }) => AlertMessage.parse(JSON.parse(body.toString())))
      const counted = items.reduce((sum, { event_count: n }) => sum + n, 0)
      print(
        `    ${accepted} events accepted by two processes in ${Math.round(Math.max(...loads.map((load) => load.elapsedMs)) / 1_000)} s`,
      )
      return [
        claim(
          `events of one issue counted, of ${accepted} accepted`,
          counted,
          counted === accepted && items.length === 1,
        ),
        ...(await Promise.all(
          RULES.map(async (trigger) => {
            const alerts = (await fired()).filter((type) => type === trigger).length
            const messages = sent.filter(({ data }) => data.alert.trigger_type === trigger).length
            return claim(
              `1 alert and 1 message of ${trigger}`,
              `${alerts} and ${messages}`,
              alerts === 1 && messages === 1,
            )
          }),
        )),
      ]
    } finally {
      for (const service of services) await service.stop()
      await receiver.close()
    }
  })

const Fired = z.object({ items: z.array(z.object({ trigger_type: z.string() })) })
const Issues = z.object({ items: z.array(z.object({ event_count: z.number() })) })
