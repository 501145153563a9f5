import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import type { BenchProject } from '#bench/setup-project.ts'
import type { Receiver } from '#test/kit/receiver.ts'
import { type Claim, claim, print } from './torture.ts'

/** A rule whose webhook says that an issue is new. */
export async function watchNewIssues(
  url: string,
  { projectId, cookie }: BenchProject,
  receiver: Receiver,
): Promise<void> {
  const response = await fetch(`${url}/api/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, cookie },
    body: JSON.stringify({
      projectId,
      name: 'New issues',
      trigger_type: 'new_issue',
      actions: [{ type: 'webhook', webhook_url: `${receiver.url}/hook` }],
    }),
  })
  if (response.status !== 201) throw new Error(`the rule: ${response.status} ${await response.text()}`)
}

/** Sends a problem that is new every few seconds, again until one of the processes acknowledges it. */
export function startTrickle({ number, publicKey }: BenchProject, urls: () => readonly string[]) {
  let [isOver, isAbandoned, acknowledged] = [false, false, 0]
  const work = (async () => {
    while (!isOver) {
      const event = {
        event_id: randomBytes(16).toString('hex'),
        exception: [{ type: `Calm${acknowledged}Error`, value: 'new' }],
      }
      const body = `{}\n{"type":"event"}\n${JSON.stringify(event)}`
      for (let attempt = 0; ; attempt++) {
        const url = `${urls()[attempt % urls().length] ?? ''}/api/${number}/envelope/?sentry_key=${publicKey}&sentry_version=7`
        const answer = await fetch(url, { method: 'POST', body }).catch(() => null)
        if (answer?.status === 200) break
        if (isAbandoned) return
        await delay(50)
      }
      acknowledged++
      // At most ten alerts of a rule are sent in a minute.
      await delay(6_500)
    }
  })()
  return {
    async stop(): Promise<number> {
      isOver = true
      await work
      return acknowledged
    },
    /** Ends it where nothing may acknowledge any more. */
    abandon(): void {
      isOver = isAbandoned = true
    },
  }
}

const Row = z.object({ issues: z.number(), alerts: z.number(), distinct: z.number(), waiting: z.number() })

/** Waits until nothing is due, then compares the problems with issues, alerts and what arrived. */
export async function untilDelivered(
  connectionString: string,
  { projectId }: BenchProject,
  receiver: Receiver,
  problems: number,
): Promise<Claim[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    for (const deadline = performance.now() + 120_000; ; await delay(200)) {
      const { rows } = await client.query(
        `select (select count(*)::int from issues where project_id = $1) as issues, count(a.id)::int as alerts,
                count(distinct a.issue_id)::int as distinct,
                (select count(*)::int from outbox_deliveries where due_at is not null) as waiting
         from fired_alerts a join issues i on i.id = a.issue_id where i.project_id = $1`,
        [projectId],
      )
      const { issues, alerts, distinct, waiting } = Row.parse(rows[0])
      const arrived = new Set(receiver.requests.map(({ headers }) => String(headers['svc-delivery'])))
      if ((waiting > 0 || arrived.size < problems) && performance.now() < deadline) continue
      print(`  ${receiver.requests.length} requests of webhooks, ${arrived.size} of them different`)
      return [
        claim(
          'each new problem is one issue with one alert',
          `${problems} problems, ${issues} issues, ${alerts} alerts of ${distinct}`,
          problems === issues && issues === alerts && issues === distinct,
        ),
        claim('each alert arrives', `${arrived.size} of ${problems}`, arrived.size === problems && waiting === 0),
      ]
    }
  } finally {
    await client.end()
  }
}
