import { beforeAll, describe, expect, test } from 'vitest'
import { client, type Client } from '#test/kit/client.ts'
import { anOrg, aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { IssueView } from './views.api.ts'

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })

type Member = Person & { readonly api: Client }
let org: { id: string; slug: string }
let ada: Member
let ben: Member
let root: Member
let guest: Member

async function member(role: 'viewer' | 'member' | 'admin', name: string): Promise<Member> {
  const user = await aPerson(t.app, { org, role, name })
  const api = client(t.url)
  for (const pair of user.cookie.split('; '))
    api.cookies.set(pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1))
  return { ...user, api }
}

beforeAll(async () => {
  org = await anOrg(t.app)
  ada = await member('member', 'Ada')
  ben = await member('member', 'Ben')
  root = await member('admin', 'Root')
  guest = await member('viewer', 'Guest')
})

async function save(who: Member, fields: Record<string, unknown> = {}): Promise<IssueView> {
  const answer = await who.api.post('/api/views', { name: 'Fatal', ...fields })
  expect(answer.status, answer.text).toBe(201)
  return answer.as<IssueView>()
}
const namesOf = async (who: Member): Promise<string[]> =>
  (await who.api.get('/api/views?limit=100')).as<{ items: IssueView[] }>().items.map(({ name }) => name)
const remove = async (who: Member, ...views: IssueView[]) => {
  for (const { id } of views) expect((await who.api.delete(`/api/views/${id}`)).status).toBe(204)
}

test('a view is stored as sent, and only its owner sees it', async () => {
  const view = await save(ada, {
    name: '  Fatal on phones ',
    query: 'level:fatal device.model:SM-*',
    sort: '-user_count',
    filters: { status: ['unresolved'], assignee_id: ['me'], range: '7d' },
    position: 3,
  })
  expect(view).toMatchObject({
    name: 'Fatal on phones',
    query: 'level:fatal device.model:SM-*',
    sort: '-user_count',
    filters: { status: ['unresolved'], assignee_id: ['me'], range: '7d' },
    is_shared: false,
    owner: { id: ada.actor.userId, name: 'Ada' },
    can_change: true,
    position: 3,
  })
  expect(await namesOf(ada)).toEqual(['Fatal on phones'])
  expect(await namesOf(ben)).toEqual([])
  for (const stranger of [ben, root]) {
    expect((await stranger.api.patch(`/api/views/${view.id}`, { name: 'Mine' })).status).toBe(404)
    expect((await stranger.api.delete(`/api/views/${view.id}`)).status).toBe(404)
  }
  await remove(ada, view)
})

test('absent fields stay, and updated_at changes', async () => {
  const view = await save(ada, { query: 'is:resolved', filters: { severity: ['high'] } })
  t.clock.advance(60_000)
  const answer = await ada.api.patch(`/api/views/${view.id}`, { name: 'Renamed' })
  expect(answer.body).toMatchObject({ name: 'Renamed', query: 'is:resolved', filters: { severity: ['high'] } })
  expect(answer.as<IssueView>().updated_at > view.updated_at).toBe(true)
  expect((await ada.api.patch(`/api/views/${view.id}`, { filters: {} })).body).toMatchObject({ filters: {} })
  await remove(ada, view)
})

describe('sharing', () => {
  test('every member sees a shared view, in its position; its owner and admins change it', async () => {
    const second = await save(ada, { name: 'Second', is_shared: true, position: 2 })
    const first = await save(ben, { name: 'First', is_shared: true, position: 1 })
    for (const one of [ada, ben, root, guest]) expect(await namesOf(one)).toEqual(['First', 'Second'])
    const { items } = (await guest.api.get('/api/views')).as<{ items: IssueView[] }>()
    expect(items.map((view) => view.can_change)).toEqual([false, false])
    expect((await ben.api.patch(`/api/views/${second.id}`, { name: 'X' })).status).toBe(403)
    expect((await guest.api.delete(`/api/views/${second.id}`)).status).toBe(403)
    expect((await root.api.patch(`/api/views/${second.id}`, { position: 0 })).status).toBe(200)
    expect(await namesOf(guest)).toEqual(['Second', 'First'])
    expect(await root.api.patch(`/api/views/${second.id}`, { is_shared: false })).toMatchObject({
      status: 403,
      body: { error: 'Only the owner of a view can stop sharing it. You can delete it.' },
    })
    expect((await ada.api.patch(`/api/views/${second.id}`, { is_shared: false })).status).toBe(200)
    expect(await namesOf(ben)).toEqual(['First'])
    await remove(root, first)
    await remove(ada, second)
  })

  test('viewers cannot share views', async () => {
    expect((await guest.api.post('/api/views', { name: 'Ours', is_shared: true })).status).toBe(403)
    const own = await save(guest)
    expect((await guest.api.patch(`/api/views/${own.id}`, { is_shared: true })).status).toBe(403)
    await remove(guest, own)
  })

  test('a shared view stays after its owner is disabled or deleted', async () => {
    const cara = await member('member', 'Cara')
    const view = await save(cara, { name: 'Hers', is_shared: true })
    await t.app.db.query('update users set disabled_at = now() where id = $1', [cara.actor.userId])
    const left = (await ada.api.get('/api/views')).as<{ items: IssueView[] }>()
    expect(left.items).toMatchObject([{ name: 'Hers', owner: null, can_change: false }])
    await t.app.db.query('delete from users where id = $1', [cara.actor.userId])
    const { items } = (await ada.api.get('/api/views')).as<{ items: IssueView[] }>()
    expect(items).toMatchObject([{ name: 'Hers', owner: null, can_change: false }])
    await remove(root, view)
  })
})

test.each<[string, Record<string, unknown>, string]>([
  [
    'a malformed query',
    { query: 'level:eror' },
    'query: level takes fatal, error, warning, info, debug (character 7).',
  ],
  [
    'a query with an unknown member',
    { query: 'assigned:zoe' },
    'query: no member of this organisation is called "zoe" (character 1).',
  ],
  ['a query that is too long', { query: 'a'.repeat(10_001) }, 'query must be at most 10,000 characters.'],
  ['a name of spaces', { name: '  ' }, 'name must not be empty.'],
  ['a long name', { name: 'n'.repeat(61) }, 'name must be at most 60 characters.'],
  ['a name of joiners', { name: '\u200D\u200C' }, 'name must be one line of visible characters.'],
  ['a name with a direction override', { name: 'a\u202Eb' }, 'name must be one line of visible characters.'],
  ['a name of two paragraphs', { name: 'a\u2029b' }, 'name must be one line of visible characters.'],
  ['a query that is not a string', { query: null }, 'query must be a string.'],
  ['a name of two lines', { name: 'a\nb' }, 'name must be one line of visible characters.'],
  ['an unknown sort', { sort: 'title' }, 'sort'],
  ['an unknown filter', { filters: { tag: 'x' } }, 'filters'],
  ['an unknown status', { filters: { status: ['open'] } }, 'status'],
  ['a position above the maximum', { position: 10_001 }, 'position must be a whole number from 0 to 10,000.'],
  ['an unknown field', { colour: 'red' }, 'colour'],
  ['an unknown project', { filters: { projectId: ['01890000-0000-7000-8000-000000000000'] } }, 'filters.projectId'],
])('%s is refused, and nothing is saved or changed', async (_what, fields, error) => {
  const view = await save(ada)
  for (const answer of [
    await ada.api.post('/api/views', { name: 'New', ...fields }),
    await ada.api.patch(`/api/views/${view.id}`, fields),
  ]) {
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body['error']).toContain(error)
  }
  const { items } = (await ada.api.get('/api/views')).as<{ items: IssueView[] }>()
  expect(items).toEqual([view])
  await remove(ada, view)
})

test('a name may be in any script, and be used twice', async () => {
  const names = ['👩‍💻 on call', 'می‌خواهم', '結帳', 'Fatal', 'Fatal']
  const views: IssueView[] = []
  for (const name of names) views.push(await save(ada, { name }))
  expect(await namesOf(ada)).toEqual(names)
  await remove(ada, ...views)
})

test('invalid page parameters are refused', async () => {
  for (const query of ['cursor=5&offset=5', 'cursor=x', 'cursor=-1', 'limit=101', 'offset=10001', 'sort=name'])
    expect((await ada.api.get(`/api/views?${query}`)).status, query).toBe(400)
})

test('a member has at most 50 own views, also with two concurrent requests', async () => {
  const views: IssueView[] = []
  for (let i = 0; i < 49; i++) views.push(await save(ada, { name: `View ${i}` }))
  const both = await Promise.all([1, 2].map(() => ada.api.post('/api/views', { name: 'Last' })))
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
  expect((await save(ben)).name).toBe('Fatal')
  const pages: string[] = []
  let cursor: string | null = null
  do {
    const answer = await ada.api.get(`/api/views?limit=20${cursor === null ? '' : `&cursor=${cursor}`}`)
    const page = answer.as<{ items: IssueView[]; total: number; next_cursor: string | null }>()
    expect(page.total).toBe(50)
    pages.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== null)
  expect(new Set(pages).size).toBe(50)
})
