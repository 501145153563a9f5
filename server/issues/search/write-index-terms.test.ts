import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
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
  await app.tx((tx) => Promise.resolve(insertDocuments(tx, [{ issueId, orgId, terms: [] }])))
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

describe('of events in a row', () => {
  const OWN = ['Error: failed', 'failed', 'pay', 'failed', 'POST /pay', null]
  const event = (facts: readonly Fact[], frames: readonly string[], own = OWN) => ({
    indexedTexts: [...own, ...frames.flatMap((name) => [name, `module.${name}`, null])],
    facts,
    event: { projectId: newId(), userHash: null },
  })
  const record = (...occurrences: ReturnType<typeof event>[]) => {
    const [first] = occurrences
    if (first === undefined) throw new Error('no events')
    const issue = { issueId, orgId, isNew: false, isMerged: false, first, occurrences }
    return app.tx((tx) => writeIndexTerms(tx, app.clock.now(), [issue]))
  }
  /** Terms that were written since the last call. */
  const written = async (): Promise<string> => {
    const rows = await app.db.deleteFrom('issue_new_terms').returning('terms').execute()
    return rows.map(({ terms }) => terms).join(' ')
  }
  beforeEach(written)

  test('what repeats is written once, what differs is written: facts, texts, frames', async () => {
    const facts: readonly Fact[] = [
      ['plan', 'gold'],
      ['shop', 'berlin'],
    ]
    await record(event(facts, ['alpha', 'beta']))
    expect(await written()).toMatch(/gold[^]*berlin[^]*alpha[^]*beta/)
    await record(event(facts, ['alpha', 'beta']), event(facts, ['alpha', 'beta']))
    expect(await written()).toBe('')
    await record(event([['plan', 'gold']], ['alpha']), event([['shop', 'gold']], ['alpha']))
    expect(await written()).toContain('gold')
    await record(event(facts, ['alpha', 'gamma'], ['Error: broke', 'broke', 'pay', 'broke', 'POST /pay', null]))
    expect(await written()).toMatch(/broke[^]*gamma|gamma[^]*broke/)
    // A stack is read of the first event, or with a new culprit; until then a frame is not known.
    await record(event(facts, ['alpha']), event(facts, ['delta']))
    expect(await written()).toBe('')
    await record(event(facts, ['delta']))
    expect(await written()).toContain('delta')
  })

  test('beyond the texts of a batch facts are written, and texts when they occur again', async () => {
    // Digits do not make another text.
    const word = (n: number) => `zz${String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26))}`
    const named = (n: number) => event([['node', `n${n}`]], [], [`Failure ${word(n)}`, ...OWN.slice(1)])
    await record(...Array.from({ length: 120 }, (_, n) => named(n)))
    const first = await written()
    expect(first).toContain('n119')
    expect(first).toContain(word(90))
    expect(first).not.toContain(word(119))
    await record(named(119))
    expect(await written()).toContain(word(119))
  })

  test('after a rollback they are written again', async () => {
    await record(event([['zone', 'east']], ['omega']))
    expect(await written()).toMatch(/east[^]*omega/)
    forgetKnownTerms()
    await record(event([['zone', 'east']], ['omega']))
    expect(await written()).toMatch(/east[^]*omega/)
  })
})
