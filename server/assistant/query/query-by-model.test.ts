import { afterAll, expect, test } from 'vitest'
import { fakeModel, type ModelReply } from '#test/kit/fake-model.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { BENIGN, NEUTRALISED, REFUSED } from './guard/statements.fixture.ts'
import type { QueryResult } from './query.api.ts'

/** Questions that a model translates: one that answers well, one that obeys an attacker, and broken ones. */

const model = await fakeModel('openai')
afterAll(() => model.close())
const server = await testServer({
  realTime: true,
  env: { ...model.env, RATE_LIMIT_SCALE: '0', AI_REQUESTS_PER_MINUTE: '10000' },
})
const CANARY = 'canary_of_another_organisation'
const ada = await aFounder(server.url)
const own = await aProject(ada, { name: 'Own' })
const eve = await aFounder(server.url)
const foreign = await aProject(eve, { name: 'Foreign' })
await server.event({ project: own, error: 'alpha', user: { id: '17' } })
await server.event({ project: foreign, error: CANARY, release: CANARY, environment: CANARY, user: { id: CANARY } })

const QUESTION = 'How many events were there in the last 7 days?'
const ask = (query = QUESTION) => ada.post('/api/issues/nlq', { project_id: own.id, query })
const replyWith = (sql: string): void => {
  model.reply = () => ({ fragments: ['Events of the last 7 days.\n```sql\n', sql, '\n```'] })
}

test('its statement runs behind the guard; it reads the question and the views, and no row', async () => {
  replyWith("select count(*) as n from events where time >= now() - interval '7 days'")
  const sent = model.requests.length
  const answer = (await ask(`${QUESTION} For ada@example.com`)).as<QueryResult>()
  expect(answer).toMatchObject({
    source: 'model',
    explanation: 'Events of the last 7 days.',
    columns: [{ name: 'n', type: 'number' }],
    rows: [[1]],
  })
  expect(answer.sql).toContain(own.id)
  expect(model.requests).toHaveLength(sent + 1)
  const { text, body } = model.requests.at(-1) ?? { text: '', body: {} }
  expect(text).toContain('exception_type')
  expect(text).not.toMatch(/alpha|ada@example\.com/)
  expect(body).not.toHaveProperty('tools')
})

test('a statement that the guard refuses is 400, and shows and changes nothing', async () => {
  const before = await counts()
  for (const sql of [...REFUSED, ...NEUTRALISED].filter((text, i) => i % 3 === 0 && !text.includes('```'))) {
    replyWith(sql)
    const { status, body } = await ask()
    expect([200, 400], sql).toContain(status)
    expect(JSON.stringify(body), sql).not.toContain(CANARY)
  }
  for (const sql of BENIGN.filter((_, i) => i % 10 === 0)) {
    replyWith(sql)
    expect((await ask()).as<QueryResult>().source, sql).toBe('model')
  }
  expect(await counts()).toEqual(before)
})

test.each<[string, ModelReply]>([
  ['says no statement', { fragments: ['I cannot answer this.'] }],
  ['writes two statements', { fragments: ['```sql\nselect 1\n```\n```sql\nselect 2\n```'] }],
  ['writes HTML', { fragments: ['<script>alert(1)</script><table><tr><td>7</td></tr></table>'] }],
  ['breaks off', { fragments: ['```sql\nselect '], ending: 'cut' }],
  ['calls a tool', { fragments: ['Let me see. '], ending: 'tool' }],
  ['fails in the middle', { fragments: ['```sql\n'], ending: 'error' }],
  ['says nothing', { fault: 'nothing' }],
  ['says 10 MB', { fault: 'huge' }],
  ['ends the connection', { fault: 'reset' }],
  ['has no room', { status: 429, headers: { 'retry-after': '20' } }],
  ['refuses the key', { status: 401 }],
])('where it %s, the rules write the statement', async (_, reply) => {
  model.reply = () => reply
  expect((await ask()).as<QueryResult>()).toMatchObject({ source: 'built_in', rows: [[1]] })
})

const counts = async (): Promise<unknown> =>
  (
    await server.app.db.query(
      'select (select count(*) from events) as events, (select count(*) from issues) as issues, (select count(*) from users) as users',
    )
  ).rows
