import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fireAlerts } from '#server/alerts/rules/fire-alerts.ts'
import { createRule } from '#server/alerts/rules/create-rule.ts'
import { resolveAlert } from '#server/alerts/rules/resolve-alert.ts'
import { NewRule } from '#server/alerts/rules/rule.api.ts'
import { systemActor, factContext } from '#server/platform/context/actor.ts'
import type { App } from '#server/platform/context/app.ts'
import { startChat } from '#test/kit/chat-receiver.ts'
import { fakeClock } from '#test/kit/fake-clock.ts'
import { aPerson } from '#test/kit/members.ts'
import { PAGER_KEY, startPager } from '#test/kit/pager-receiver.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { startTeamchat } from '#test/kit/teamchat-receiver.ts'
import { onNewDatabase } from './on-new-database.ts'
import { atMost, type Claim, claim, none, print, type TortureArgs } from './torture.ts'
import { startWorker } from './webhook-run.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Before the receivers are away, while they are, and after. */
const ALERTS = { before: 5, away: 60, after: 3 }
/** Every so many alerts one is resolved, five alerts later. */
const RESOLVED_EVERY = 3

/**
 * All receivers are away for an hour of the schedule, in which an alert fires every minute; two processes send. Afterwards
 * nothing is lost, and what waited arrives soon, and in order.
 */
export const alertOutage = ({ full }: TortureArgs): Promise<Claim[]> =>
  onNewDatabase(async ({ connectionString, openApp }) => {
    // An hour becomes 11 s, or 36.
    const scale = full ? 0.01 : 0.003
    let isAway = false
    let requests = 0
    const fault = () => {
      if (isAway) requests++
      return isAway ? (requests % 2 === 0 ? 503 : ({ fault: 'reset' } as const)) : undefined
    }
    const [chat, pager, teamchat] = [await startChat(fault), await startPager(fault), await startTeamchat(fault)]
    const signed = await startReceiver({ respond: () => fault() ?? 200 })
    const workers: ChildProcess[] = []
    try {
      const clock = fakeClock(new Date())
      const app = await openApp({ clock })
      const worker = { app, connectionString, scale, timeoutMs: 3_000, leaseMs: 6_000 }
      for (let n = 0; n < 2; n++) workers.push(await startWorker(worker, { PAGER_BASE_URL: pager.url }))
      const owner = await aPerson(app)
      const rule = await createRule(
        app,
        owner.actor,
        NewRule.parse({
          projectId: await insertProject(app, owner),
          name: 'Spikes',
          trigger_type: 'issue_spike',
          actions: [
            { type: 'chat', webhook_url: chat.url },
            { type: 'webhook', webhook_url: `${signed.url}/hook` },
            { type: 'pager', routing_key: PAGER_KEY },
            { type: 'teamchat', webhook_url: teamchat.url },
          ],
        }),
      )
      const ids: string[] = []
      const fire = async (count: number, everyMs: number): Promise<void> => {
        for (let n = 0; n < count; n++) {
          clock.advance(MINUTE_MS)
          ids.push(await fireOne(app, rule.id, ids.length))
          const old = ids.length - 6
          if (old >= 0 && old % RESOLVED_EVERY === 0) await resolveAlert(app, owner.actor, ids[old] ?? '')
          await delay(everyMs)
        }
      }
      await fire(ALERTS.before, 50)
      await untilSent(app, 'select 1 from outbox_deliveries where due_at is not null')
      isAway = true
      await fire(ALERTS.away, (HOUR_MS * scale) / ALERTS.away)
      const waiting = await app.db.query<{ id: string }>('select id from outbox_deliveries where due_at is not null')
      isAway = false
      const backMs = performance.now()
      await fire(ALERTS.after, 50)
      await untilSent(app, 'select 1 from outbox_deliveries where due_at is not null')
      const tookMs = performance.now() - backMs
      print(`    ${ids.length} alerts; ${waiting.rows.length} deliveries waited, ${requests} refused requests`)
      const log = await readLog(app)
      const waited = new Set(waiting.rows.map(({ id }) => id))
      const open = new Set(await openSubjects(app))
      const wrong = pager.incidents.filter(
        ({ key, state }) => (state === 'resolved') === open.has(key.slice(key.indexOf('/') + 1)),
      )
      const paged = new Set(pager.incidents.map(({ key }) => key.slice(key.indexOf('/') + 1)))
      return [
        claim('deliveries waited when the receivers came back', waiting.rows.length, waiting.rows.length > ALERTS.away),
        none(
          'deliveries lost',
          log.filter(
            ({ state, reason, type, skipped }) =>
              state !== 'delivered' && !(type === 'pager' && skipped !== null && reason === null),
          ).length,
        ),
        none('open alerts that were not paged', [...open].filter((subject) => !paged.has(subject)).length),
        none('incidents in another state than their alert', wrong.length),
        none(
          'deliveries that waited and arrived before an older one',
          // Skipped deliveries did not arrive.
          disorder(log.filter(({ id, skipped }) => waited.has(id) && skipped === null)),
        ),
        // By the schedule some would wait for two hours: 22 s, or 72.
        atMost('the last of them is sent after', 15, tookMs / 1_000, ' s'),
      ]
    } finally {
      for (const worker of workers) {
        worker.kill('SIGKILL')
        if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit')
      }
      for (const { receiver } of [chat, pager, teamchat]) await receiver.close()
      await signed.close()
    }
  })

async function fireOne(app: App, ruleId: string, n: number): Promise<string> {
  const [id = ''] = await app.tx((tx) =>
    fireAlerts(tx, app, factContext(app, systemActor('torture')), [
      {
        ruleId,
        subject: `subject ${n}`,
        issueId: null,
        cause: `torture ${n}`,
        title: `Spike ${n}`,
        severity: 'critical',
        value: 100 + n,
        unit: 'events',
        threshold: 100,
        windowMinutes: 60,
        explanation: 'Many events.',
      },
    ]),
  )
  return id
}

/** Waits until a query finds nothing. */
async function untilSent(app: App, query: string): Promise<void> {
  const deadline = performance.now() + 120_000
  while ((await app.db.query(query)).rows.length > 0) {
    if (performance.now() > deadline) throw new Error('deliveries did not end in two minutes')
    await delay(20)
  }
}

const openSubjects = async (app: App): Promise<string[]> =>
  (
    await app.db.query<{ subject: string }>(
      `select subject from fired_alerts where state in ('firing', 'acknowledged')`,
    )
  ).rows.map(({ subject }) => subject)

type Logged = {
  readonly id: string
  readonly laneId: string
  readonly state: string
  readonly reason: string | null
  readonly type: string
  readonly skipped: string | null
  /** Order of writing. */
  readonly seq: number
  readonly endedMs: number
}

async function readLog(app: App): Promise<Logged[]> {
  const { rows } = await app.db.query<Logged>(
    `select d.id, d.lane_id as "laneId", d.state, d.reason, s.action_type as type, s.skipped, d.seq::int as seq,
       (select extract(epoch from max(a.started_at))::float8 * 1000 from outbox_attempts a where a.delivery_id = d.id) as "endedMs"
     from outbox_deliveries d join alert_deliveries s on s.delivery_id = d.id order by d.seq`,
  )
  return rows
}

/** The first success of an action may be any of its messages; what follows is in the order of writing. */
function disorder(log: readonly Logged[]): number {
  let count = 0
  for (const ofLane of Map.groupBy(log, ({ laneId }) => laneId).values()) {
    const seqs = ofLane.toSorted((a, b) => a.endedMs - b.endedMs).map(({ seq }) => seq)
    count += seqs.slice(1).filter((seq, index) => index > 0 && seq < (seqs[index] ?? 0)).length
  }
  return count
}
