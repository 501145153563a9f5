import { beforeAll, describe, expect, test } from 'vitest'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { factContext } from '../../platform/context/actor.ts'
import type { Fact } from '../facts/kinds.ts'
import { recordFacts } from '../facts/record-facts.ts'
import type { AuditEntry } from './audit.api.ts'
import { canonicalJson } from './canonical-json.ts'

const t = await testServer()
const { app } = t

let ada: Person
let bob: Person
beforeAll(async () => {
  ada = await aPerson(app)
  bob = await aPerson(app, {
    role: 'admin',
    org: { id: ada.actor.orgId, slug: ada.orgSlug },
    caller: aCaller({ ip: '192.0.2.8' }),
  })
  const { orgId, userId } = ada.actor
  const facts: [Person, Fact][] = [
    [ada, { kind: 'org.updated', orgId, data: { fields: ['name'] } }],
    [bob, { kind: 'user.password_changed', orgId, userId: bob.actor.userId, data: {} }],
    [bob, { kind: 'signin.password.ok', orgId, userId: bob.actor.userId, sessionId: bob.actor.sessionId, data: {} }],
    [ada, { kind: 'org.updated', orgId, data: { fields: ['quota'] } }],
    [ada, { kind: 'user.password_changed', orgId, userId, data: {} }],
  ]
  for (const [person, fact] of facts) {
    await app.tx((tx) => recordFacts(tx, factContext(app, person.actor), [fact]))
    t.clock.advance(60_000)
  }
})

type Answer = { items: AuditEntry[]; total: number; next_cursor: string | null; limit: number }

async function list(query: Record<string, string | number> = {}, cookie = ada.cookie): Promise<Answer> {
  const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))
  const response = await fetch(`${t.url}/api/audit-log?${search.toString()}`, { headers: { cookie } })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Answer
}
const seqs = async (query: Record<string, string | number>): Promise<number[]> =>
  (await list(query)).items.map(({ seq }) => seq)

test('newest first, fifty on a page, for this organisation only', async () => {
  const stranger = await aPerson(app)
  const { items, total, limit } = await list()
  expect([items.map(({ seq }) => seq), total, limit]).toEqual([[5, 4, 3, 2, 1], 5, 50])
  expect(await list({}, stranger.cookie)).toMatchObject({ items: [], total: 0 })
})

describe('filters', () => {
  test('by action or event type, in both spellings, exactly or by the beginning', async () => {
    expect(await seqs({ action: 'user.password_changed' })).toEqual([5, 2])
    expect(await seqs({ action: 'password.changed' })).toEqual([5, 2])
    expect(await seqs({ action: 'password.*' })).toEqual([5, 2])
    expect(await seqs({ action: 'user*' })).toEqual([5, 2])
    expect(await seqs({ action: 'signin.*' })).toEqual([3])
    expect(await seqs({ action: 'user.password' })).toEqual([])
    expect(await seqs({ action: '*' })).toEqual([5, 4, 3, 2, 1])
  })

  test('by actor and target: id, e-mail, label', async () => {
    expect(await seqs({ actor: bob.actor.userId })).toEqual([3, 2])
    expect(await seqs({ actor: bob.email.toUpperCase() })).toEqual([3, 2])
    expect(await seqs({ target: bob.email })).toEqual([3, 2])
    expect(await seqs({ target: bob.actor.userId })).toEqual([2])
    expect(await seqs({ target: 'Acme' })).toEqual([4, 1])
    expect(await seqs({ target: 'Acme', action: 'org.*', actor: ada.email })).toEqual([4, 1])
    expect(await seqs({ target: 'Acme', actor: bob.email })).toEqual([])
  })

  test('by time', async () => {
    const [, , middle] = (await list()).items
    const at = middle?.created_at ?? ''
    expect(await seqs({ from: at })).toEqual([5, 4, 3])
    expect(await seqs({ to: at })).toEqual([2, 1])
    expect(await seqs({ from: at, to: at })).toEqual([])
    expect(await seqs({ from: at, action: 'org.updated' })).toEqual([4])
  })
})

test('pages by cursor and by offset hold each entry once', async () => {
  const filters: Record<string, string>[] = [
    {},
    { action: '*' },
    { action: 'org.*' },
    { target: ada.email },
    { actor: ada.email },
  ]
  for (const filter of filters) {
    const all = await seqs(filter)
    const byCursor: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Answer = await list({ ...filter, limit: 1, ...(cursor === '' ? {} : { cursor }) })
      expect(page.total).toBe(all.length)
      byCursor.push(...page.items.map(({ seq }) => seq))
      cursor = page.next_cursor
    }
    expect(byCursor).toEqual(all)
    const byOffset = await Promise.all(all.map((_, offset) => seqs({ ...filter, limit: 1, offset })))
    expect(byOffset.flat()).toEqual(all)
  }
})

test('a wrong filter is refused', async () => {
  for (const query of [
    'action=',
    'action=a%25',
    'action=*a',
    'from=yesterday',
    'cursor=x',
    'cursor=WzEsMl0',
    'limit=101',
  ]) {
    const response = await fetch(`${t.url}/api/audit-log?${query}`, { headers: { cookie: ada.cookie } })
    expect([query, response.status]).toEqual([query, 400])
  }
})

test('the answer of the API is what was hashed', async () => {
  for (const { hash, ...entry } of (await list()).items) {
    const bytes = Buffer.concat([Buffer.from(entry.prev_hash, 'hex'), Buffer.from(canonicalJson(entry))])
    expect(Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')).toBe(hash)
  }
})
