import { expect, test } from 'vitest'
import type { BulkOperation } from '#server/issues/bulk/bulk.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Answer } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { anEvent, anException, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/**
 * A hundred concurrent writers on one issue: digestion of several shards, members, bulk operations. Counts are exact.
 */

const server = await testServer({ realTime: true })
const { app } = server

const ROUNDS = 8
const EVENTS_PER_ROUND = 60
const USERS = 37

const failing = (i: number, name = 'pay') =>
  anEvent({
    exception: {
      values: [
        anException({
          type: `${name}Error`,
          value: 'failed',
          stacktrace: { frames: [{ filename: `src/${name}.ts`, function: name, lineno: 1, in_app: true }] },
        }),
      ],
    },
    user: { id: `u${i % USERS}` },
  })

/** On an overloaded machine a connection may not be free within five seconds: retry, as `Retry-After` says. */
async function served(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503) return answer
  }
}

test('counts are exact, no deadlock occurs, no request is refused', async () => {
  const ada = await aFounder(server.url)
  const project = await aProject(ada)
  const neighbour = await aProject(ada)
  await sendEvent(server.url, project.dsn, failing(0))
  await sendEvent(server.url, project.dsn, failing(0, 'ship'))
  await server.service.drain()
  const found = (await ada.get('/api/issues')).as<{ items: { id: string; type: string }[] }>().items
  const issueId = found.find(({ type }) => type === 'payError')?.id ?? ''
  const otherId = found.find(({ type }) => type === 'shipError')?.id ?? ''
  const me = (await ada.get('/api/me')).as<{ user: { id: string } }>().user.id

  let sent = 1
  let comments = 0
  const answers: Answer[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      Array.from({ length: EVENTS_PER_ROUND }, (_, i) => sendEvent(server.url, project.dsn, failing(sent + i))),
    )
    sent += EVENTS_PER_ROUND
    // As if digesters of several projects wrote to one issue: four transactions at once.
    await app.db.query('update spool set shard = id % 4')
    const changes = Array.from({ length: 24 }, (_, i) => [
      served(() => ada.patch(`/api/issues/${issueId}`, { status: i % 2 === 0 ? 'resolved' : 'unresolved' })),
      served(() => ada.patch(`/api/issues/${issueId}`, i % 3 === 0 ? { assignee_id: me } : { assignee_id: null })),
      served(() => ada.post(`/api/issues/${issueId}/comments`, { body: `round ${round}, ${i}` })),
      served(() =>
        ada.patch('/api/issues', {
          ids: i % 2 === 0 ? [issueId, otherId] : [otherId, issueId],
          severity: i % 2 === 0 ? 'low' : null,
        }),
      ),
    ]).flat()
    comments += 24
    const written = await Promise.all([server.service.drain(), ...changes])
    answers.push(...written.filter((answer) => answer !== undefined))
  }
  await server.service.drain()

  expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 201)).toEqual([])
  for (const answer of answers) {
    if (!('results' in answer.body)) continue
    expect(answer.as<BulkOperation>()).toMatchObject({ state: 'done', failed: 0, done: 2 })
  }
  const detail = (await ada.get(`/api/issues/${issueId}`)).as<IssueDetail>()
  expect([detail.event_count, detail.user_count]).toEqual([sent, USERS])
  const stored = await app.db.query<{ events: number; hours: number; users: number; comments: number }>(
    `select (select count(*)::int from events where issue_id = $1) as events,
       (select sum(events)::int from issue_hours where group_id = $1) as hours,
       (select count(*)::int from issue_users where group_id = $1) as users,
       (select count(distinct body)::int from comments where issue_id = $1) as comments`,
    [issueId],
  )
  expect(stored.rows[0]).toEqual({ events: sent, hours: sent, users: USERS, comments })
  const outcomes = await app.db.query<{ outcome: string; n: number }>(
    `select outcome, sum(quantity)::int as n from outcomes_hourly where project_id = $1 and category = 'error' group by 1`,
    [project.id],
  )
  expect(outcomes.rows).toEqual([{ outcome: 'accepted', n: sent + 1 }])
  const deadlocks = await app.db.query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  )
  expect(deadlocks.rows[0]?.n).toBe(0)
  expect((await ada.get(`/api/issues?projectId=${neighbour.id}`)).as<{ total: number }>().total).toBe(0)
}, 180_000)
