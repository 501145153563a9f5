import { beforeAll, expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../kernel/ids.ts'
import type { Fact } from './facts.ts'
import { indexNewTerms } from './index-documents.ts'
import { insertDocuments } from './search.queries.ts'
import { forgetErased, forgetKnownTerms, writeIndexTerms } from './write-index-terms.ts'

const { app } = await testApp()
let orgId: string
let issueId: string

beforeAll(async () => {
  const owner = await aPerson(app)
  orgId = owner.actor.orgId
  const projectId = newId()
  await app.db
    .insertInto('projects')
    .values({
      id: projectId,
      org_id: orgId,
      name: 'Shop',
      slug: 'shop',
      platform: 'web',
      region: 'eu-central-1',
      created_at: app.clock.now(),
    })
    .execute()
  issueId = (await seedIssues(app, projectId, 1))[0] ?? ''
  await app.tx((tx) => insertDocuments(tx, [{ issueId, orgId, terms: [] }]))
})

const write = (facts: readonly Fact[]) => {
  const event = { indexedTexts: [], facts, event: { projectId: newId(), userHash: null } }
  const issue = { issueId, orgId, isNew: false, isMerged: false, first: event, occurrences: [event] }
  return app.tx((tx) => writeIndexTerms(tx, app.clock.now(), [issue]))
}
const waiting = async () => (await app.db.selectFrom('issue_new_terms').select('id').execute()).length
const inDocument = async (beginning: string) => {
  const { rows } = await app.db.query<{ n: number }>(
    `select count(*)::int as n from issue_search s, unnest(tsvector_to_array(s.document)) l where s.issue_id = $1 and l like $2`,
    [issueId, `${beginning}%`],
  )
  return rows[0]?.n
}
const orders = async (from: number, to: number) => {
  for (let i = from; i < to; i++) await write([['order', `o${i}`]])
  return waiting()
}

test('of a key with ever new values only some are written; the document says that there are more', async () => {
  const rows = await orders(0, 400)
  expect(rows).toBeGreaterThanOrEqual(128)
  expect(rows).toBeLessThan(250)
  expect(await orders(400, 410)).toBe(rows)
  await write([['tenant', 'acme']])
  expect(await waiting()).toBe(rows + 1)
  expect(await indexNewTerms(app)).toBe(1)
  expect([await inDocument('\u001Dorder\u001F'), await inDocument('\u001Fmore\u001Forder')]).toEqual([50, 1])
  expect(await inDocument('\u001Dtenant\u001Facme')).toBe(1)
})

test('after a restart or a rollback values are written again, without effect on a full document', async () => {
  forgetKnownTerms()
  expect(await orders(500, 600)).toBe(100)
  expect(await indexNewTerms(app)).toBe(0)
  expect(await inDocument('\u001Dorder\u001F')).toBe(50)
})

test('after an erasure a document with room gets values again', async () => {
  await orders(1_000, 1_400)
  await app.db.query('delete from issue_new_terms')
  expect(await orders(1_400, 1_410)).toBe(0)
  forgetErased()
  expect(await orders(1_410, 1_420)).toBe(10)
})

test('many releases are found', async () => {
  await app.db.query('delete from issue_new_terms')
  await write(Array.from({ length: 390 }, (_, i) => ['release', `1.${i}.0`] as const))
  await indexNewTerms(app)
  expect(await inDocument('\u001Drelease\u001F')).toBe(390)
})
