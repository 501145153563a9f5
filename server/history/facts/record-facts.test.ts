import { beforeAll, beforeEach, expect, test } from 'vitest'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { aMembership, aPerson, anOrg, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { DIGESTION, factContext, type RecordedFact } from '../../platform/context/actor.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { createProject } from '../../service/project-settings/create-project.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import type { Fact } from './kinds.ts'
import { recordFacts } from './record-facts.ts'

const t = await testApp()
const statements: string[] = []
const app = interceptedApp(t, (text, run) => {
  statements.push(text)
  return run()
})

let ada: Person
let bob: Person
let projectId: string

beforeAll(async () => {
  const org = await anOrg(t.app)
  ada = await aPerson(t.app, { org })
  bob = await aPerson(t.app, { org, role: 'member' })
  await aMembership(t.app, bob)
  projectId = (await createProject(t.app, ada.actor, { name: 'Shop', platform: 'web', region: 'eu-central-1' })).id
})

beforeEach(() => void statements.splice(0))

const issuesOf = async (count: number) =>
  (await seedIssues(t.app, projectId, count)).map((id) => ({ id, project_id: projectId, org_id: ada.actor.orgId }))

const regressed = (issue: Parameters<typeof aboutIssue>[0]): Fact => ({
  kind: 'issue.regressed',
  ...aboutIssue(issue),
  sentence: 'Regressed.',
  data: { from: 'resolved', to: 'regressed' },
})

const record = (facts: readonly Fact[], actor = factContext(app, DIGESTION)) =>
  app.tx((tx) => recordFacts(tx, actor, facts))

test('hundreds of facts cost a statement per way, and three of the audit log, one of trackers, one of alerts, one of analyses', async () => {
  const issues = await issuesOf(200)
  await t.app.db.query(
    `insert into issue_subscriptions (issue_id, user_id, reason, is_subscribed, changed_at)
     select unnest($1::uuid[]), $2, 'manual', true, now()`,
    [issues.map(({ id }) => id), bob.actor.userId],
  )
  await record(
    issues.flatMap((issue) => [
      regressed(issue),
      { kind: 'issue.events_received', ...aboutIssue(issue), data: { events: 2, minutes: [] } },
      {
        kind: 'issue.assigned',
        ...aboutIssue(issue),
        userIds: [ada.actor.userId],
        sentence: 'Assigned.',
        data: { from: null, to: ada.actor.userId },
      },
    ]),
  )
  expect(statements.filter((text) => !/^(begin|commit|set local .*)$/.test(text))).toHaveLength(11)
  const { rows } = await t.app.db.query(
    `select (select count(*)::int from issue_activity) as activity,
       (select count(*)::int from inbox_entries where user_id = $1 and kind = 'regressed') as regressed,
       (select count(*)::int from inbox_entries where user_id = $2 and kind = 'assigned') as assigned,
       (select count(*)::int from issue_subscriptions where user_id = $2 and reason = 'assigned') as subscribed`,
    [bob.actor.userId, ada.actor.userId],
  )
  expect(rows).toEqual([{ activity: 400, regressed: 200, assigned: 200, subscribed: 200 }])
})

test('facts without consequences cost no statement', async () => {
  const { orgId, userId, sessionId } = ada.actor
  await record([{ kind: 'session.refreshed', orgId, userId, sessionId, data: {} }])
  await record([])
  expect(statements.filter((text) => !/^(begin|commit)$/.test(text))).toEqual([])
})

test('subscribers receive each fact with its id, time and context, in the transaction', async () => {
  const [issue] = await issuesOf(1)
  if (issue === undefined) throw new Error('no issue')
  const received: RecordedFact[] = []
  const context = factContext(
    { clock: app.clock, factSubscribers: [(_tx, _context, facts) => Promise.resolve(void received.push(...facts))] },
    ada.actor,
  )
  const later = new Date(context.at.getTime() + 5_000)
  await record([regressed(issue), { ...regressed(issue), at: later }], context)
  expect(context).toMatchObject({ actor: ada.actor, origin: 'api', requestId: 'test' })
  expect(received).toMatchObject([
    { kind: 'issue.regressed', issueId: issue.id, at: context.at },
    { kind: 'issue.regressed', issueId: issue.id, at: later },
  ])
  const { rows } = await t.app.db.query(
    'select id, actor_id, created_at from issue_activity where issue_id = $1 order by created_at',
    [issue.id],
  )
  expect(rows).toEqual(received.map(({ id, at }) => ({ id, actor_id: ada.actor.userId, created_at: at })))
  const failing = { ...context, subscribers: [() => Promise.reject(new Error('no'))] }
  await expect(record([regressed(issue)], failing)).rejects.toThrow('no')
  const after = await t.app.db.query('select from issue_activity where issue_id = $1', [issue.id])
  expect(after.rows).toHaveLength(2)
})

test('a fact can replace the entry of an earlier one', async () => {
  const [issue] = await issuesOf(1)
  if (issue === undefined) throw new Error('no issue')
  const entryId = newId()
  for (const before of [1, 2])
    await record([
      {
        kind: 'issue.late_events_received',
        ...aboutIssue(issue),
        entryId,
        sentence: `${before} late.`,
        data: { before, unfixed: 0, unnamed: 0 },
      },
    ])
  const { rows } = await t.app.db.query('select id, sentence from issue_activity where issue_id = $1', [issue.id])
  expect(rows).toEqual([{ id: entryId, sentence: '2 late.' }])
})
