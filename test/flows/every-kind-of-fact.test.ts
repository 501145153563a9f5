import { expect, test } from 'vitest'
import { ENDPOINT } from '#test/kit/endpoint-input.ts'
import { z } from 'zod'
import { NewRule } from '#server/alerts/rules/rule.api.ts'
import { createRule } from '#server/alerts/rules/create-rule.ts'
import { DIGESTION, factContext } from '#server/platform/context/actor.ts'
import { KINDS, factKind, type FactKind } from '#server/history/facts/kinds.ts'
import { recordFacts } from '#server/history/facts/record-facts.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { LIVE_TOPIC } from '#server/platform/live/publish.ts'
import { createProject } from '#server/service/project-settings/create-project.ts'
import { publish } from '#server/platform/storage/bus.ts'
import { createEndpoint } from '#server/integrations/webhooks/create-endpoint.ts'
import { updateEndpoint } from '#server/integrations/webhooks/update-endpoint.ts'
import { aMembership, aPerson, anOrg } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'

/** A fact of each kind reaches the places that its line in `history/facts/kinds.ts` names, once, and no others. */

const { app } = await testApp()
const org = await anOrg(app)
const ada = await aPerson(app, { org })
const [subscriber, named] = [await aPerson(app, { org, role: 'member' }), await aPerson(app, { org, role: 'member' })]
for (const person of [subscriber, named]) await aMembership(app, person)
const project = await createProject(app, ada.actor, { name: 'Shop', platform: 'web', region: 'eu-central-1' })
const { id: endpointId } = await createEndpoint(app, ada.actor, {
  url: 'http://127.0.0.1:9/',
  ...ENDPOINT,
})
// Its deliveries wait.
await updateEndpoint(app, ada.actor, { endpointId, paused: true })
for (const trigger of ['new_issue', 'issue_regression', 'issue_spike', 'security_event'])
  await createRule(
    app,
    ada.actor,
    NewRule.parse({
      projectId: project.id,
      name: trigger,
      trigger_type: trigger,
      actions: [{ type: 'chat', webhook_url: 'https://hooks.example.com/services/T000/B000/XXXXsecretXXXX' }],
    }),
  )

const LiveKind = z.tuple([z.string(), z.object({ kind: z.string() })])
const live: string[] = []
app.bus.on(LIVE_TOPIC, (payload) => void live.push(LiveKind.parse(payload)[1].kind))
let heard = ''
app.bus.on('test', (payload) => void (heard = String(payload)))

/** Waits for the messages of transactions that committed before. */
async function hearEverything(): Promise<void> {
  const id = newId()
  await publish(app.db, 'test', id)
  await waitFor('the messages', () => heard === id)
}

type Schema = z.core.JSONSchema._JSONSchema

/** A value of a schema. */
function sample(schema: Schema): unknown {
  if (typeof schema === 'boolean') return 'text'
  const { type, enum: values, anyOf, properties } = schema
  if (values !== undefined) return values[0]
  if (anyOf !== undefined) return sample(anyOf[0] ?? true)
  if (type === 'array') return []
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties ?? {}).map(([name, one]) => [name, sample(one)]))
  return type === 'number' ? 1 : type === 'boolean' ? false : 'text'
}

const kinds = Object.keys(KINDS).filter((name): name is FactKind => name in KINDS)

async function aFact(kind: FactKind) {
  const [issueId = ''] = await seedIssues(app, project.id, 1)
  const commentId = newId()
  await app.db.query(
    `insert into comments (id, issue_id, author_id, body, created_at) values ($1, $2, $3, 'Hi', now())`,
    [commentId, issueId, ada.actor.userId],
  )
  await app.db.query(
    `insert into issue_subscriptions (issue_id, user_id, reason, is_subscribed, changed_at) values ($1, $2, 'manual', true, now())`,
    [issueId, subscriber.actor.userId],
  )
  const ids = {
    issue: { issueId },
    comment: { issueId, commentId },
    project: {},
    release: { releaseId: newId() },
    org: {},
    user: { userId: named.actor.userId },
    session: { userId: named.actor.userId, sessionId: newId() },
    endpoint: { endpointId },
  }
  const { target, data, activity, notifies } = factKind(kind)
  const about = Object.entries(ids).find(([name]) => name === target)?.[1] ?? { targetId: newId(), label: 'a label' }
  const inProject = ['issue', 'comment', 'project', 'release', 'alert', 'alert_rule', 'feedback'].includes(target)
  return {
    issueId,
    fact: {
      kind,
      orgId: org.id,
      ...(inProject ? { projectId: project.id } : {}),
      ...about,
      ...(activity === undefined && notifies === undefined ? {} : { sentence: 'It happened.' }),
      ...(notifies?.who === 'named' ? { userIds: [named.actor.userId] } : {}),
      data: { ...z.record(z.string(), z.unknown()).parse(sample(z.toJSONSchema(data))), ...eventIdOf(kind) },
    },
  }
}

const eventIdOf = (kind: FactKind) => (kind === 'webhook.test' ? { event_id: `evt_${newId()}` } : {})

/** The rows at each place that a fact can reach. */
async function places(issueId: string) {
  const read = async (text: string): Promise<string[]> =>
    (await app.db.query<{ what: string }>(text, text.includes('$1') ? [issueId] : [])).rows.map(({ what }) => what)
  return {
    activity: await read('select kind as what from issue_activity where issue_id = $1'),
    inbox: await read(`select kind || ' ' || user_id as what from inbox_entries where issue_id = $1`),
    subscribed: await read(
      `select reason || ' ' || user_id as what from issue_subscriptions where issue_id = $1 and reason <> 'manual'`,
    ),
    audit: await read('select action as what from audit_log order by seq'),
    webhook: await read(
      `select m.type as what from outbox_deliveries d join outbox_messages m on m.id = d.message_id where d.lane_id = '${endpointId}' order by d.seq`,
    ),
    alert: await read(
      'select r.trigger_type as what from fired_alerts a join alert_rules r on r.id = a.rule_id where a.issue_id = $1',
    ),
  }
}

const LIVE = {
  issues: 'issues',
  new_issues: 'issues',
  project: 'project',
  releases: 'releases',
  webhooks: 'webhooks',
  alerts: 'alerts',
  feedback: 'feedback',
} as const

test.each(kinds)('%s', async (kind) => {
  const { issueId, fact } = await aFact(kind)
  const { activity, notifies, subscribes, live: message, audit, webhook, alert } = factKind(kind)
  const before = await places(issueId)
  await hearEverything()
  live.splice(0)
  // Changes by members fire no alert.
  const context = factContext(app, alert === undefined ? ada.actor : DIGESTION)
  await app.tx((tx) => recordFacts(tx, context, [fact as never]))
  await hearEverything()
  const after = await places(issueId)
  const one = (what: string | undefined): string[] => (what === undefined ? [] : [what])
  const userOf = ({ who }: { who: string }): string =>
    ({ named, subscribers: subscriber, actor: ada })[who]?.actor.userId ?? ''
  expect({
    ...after,
    audit: after.audit.slice(before.audit.length),
    webhook: after.webhook.slice(before.webhook.length),
    live: live.toSorted(),
  }).toEqual({
    activity: one(activity),
    inbox: one(notifies && `${notifies.as} ${userOf(notifies)}`),
    subscribed: one(subscribes && `${subscribes.as} ${userOf(subscribes)}`),
    audit: one(audit),
    webhook: one(webhook),
    alert: one(alert),
    live: [
      ...one(message && LIVE[message]),
      ...(notifies === undefined ? [] : ['inbox']),
      ...(alert === undefined ? [] : ['alerts']),
    ].toSorted(),
  })
})
