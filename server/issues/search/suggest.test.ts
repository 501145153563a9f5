import { beforeAll, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { indexNewTerms } from './index-documents.ts'
import { orgTerm } from './index-terms.ts'

/** Suggestions of the query field, from real documents. */

const server = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })
let ada: Client & { email: string }
let shop: TestProject
let site: TestProject

type Answer = {
  items: { text: string; count: number | null; label: string | null }[]
  counted_issues: number
  complete: boolean
}

const suggested = async (query: string, by: Client = ada): Promise<Answer> => {
  const answer = await by.get(`/api/issues/suggestions?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<Answer>()
}
const texts = async (query: string, by: Client = ada) => (await suggested(query, by)).items.map(({ text }) => text)
const counts = async (query: string) => (await suggested(query)).items.map(({ text, count }) => [text, count])

beforeAll(async () => {
  ada = await aFounder(server.url)
  shop = await aProject(ada, { name: 'Shop' })
  site = await aProject(ada, { name: 'Site' })
  const user = { id: 'u-77', username: 'kim77', email: 'kim@example.com', ip_address: '10.1.2.3' }
  const tags = { tenant: 'North Wind', 'odd/key': '1', user_id: 'u-77', contact: 'kim@example.com', level: 'gold' }
  // Keys have no case.
  const named = { userId: 'u-77', username: 'kim77', current_user: 'kim77', uid: 'u-77', 'client.ip': '10.1.2.3:443' }
  for (const [project, event] of [
    [
      shop,
      anEvent({
        error: 'alpha',
        release: 'com.acme@1.2.3',
        environment: 'production',
        level: 'fatal',
        user,
        tags: { ...tags, ...named },
      }),
    ],
    [shop, anEvent({ error: 'beta', release: 'com.acme@1.2.4', environment: 'staging', tags: { tenant: 'south' } })],
    [shop, anEvent({ error: 'gamma', release: 'com.acme@1.2.4', environment: 'production' })],
    [site, anEvent({ error: 'delta', release: '9.0', environment: 'preview', tags: { color: 'red' } })],
  ] as const)
    await sendEvent(server.url, project.dsn, event)
  await server.service.drain()
  await indexNewTerms(server.app)
})

test('keys begin with the text, or have another name that does, or contain it; tags are counted', async () => {
  expect((await texts('limit=5')).slice(0, 3)).toEqual(['is', 'level', 'environment'])
  expect(await texts('prefix=REL')).toEqual(['release', 'first_release', 'last_release'])
  expect(await texts('prefix=firstS')).toEqual(['first_seen'])
  expect(await counts('prefix=ten')).toEqual([['tenant', 2]])
  expect(await counts('prefix=env')).toEqual([['environment', 4]])
  expect(await texts('prefix=tag.')).toEqual(['tag.level'])
  expect(await texts(`prefix=color&projectId=${shop.id}`)).toEqual([])
  // No query can name this tag.
  expect(await texts('prefix=odd')).toEqual([])
  expect(await texts('key=has&prefix=tenan')).toEqual(['tenant'])
  expect(await suggested('prefix=tenant')).toEqual({
    items: [{ text: 'tenant', count: 2, label: null }],
    counted_issues: 4,
    complete: true,
  })
})

test('values come from the data, with the number of issues', async () => {
  expect(await counts('key=environment')).toEqual([
    ['production', 2],
    ['preview', 1],
    ['staging', 1],
  ])
  expect(await counts('key=environment&prefix=P')).toEqual([
    ['production', 2],
    ['preview', 1],
  ])
  expect(await counts(`key=environment&projectId=${site.id}`)).toEqual([['preview', 1]])
  expect(await suggested('key=tenant&prefix=n')).toEqual({
    items: [{ text: '"North Wind"', count: 1, label: 'North Wind' }],
    counted_issues: 1,
    complete: true,
  })
  expect(await counts('key=tag.level')).toEqual([['gold', 1]])
  expect(await counts('key=tenant&prefix=*')).toEqual([])
  expect(await counts('key=nosuchtag')).toEqual([])
})

test('a release is suggested once, and with or without its package as it is typed', async () => {
  expect(await counts('key=release')).toEqual([
    ['com.acme@1.2.4', 2],
    ['9.0', 1],
    ['com.acme@1.2.3', 1],
  ])
  expect(await counts('key=release&prefix=1.2')).toEqual([
    ['1.2.4', 2],
    ['1.2.3', 1],
  ])
  expect(await texts('key=lastRelease&prefix=com')).toEqual(['com.acme@1.2.4', 'com.acme@1.2.3'])
})

test('closed lists are suggested whole, with counts of all issues', async () => {
  expect(await counts('key=level')).toEqual([
    ['fatal', 1],
    ['error', 3],
    ['warning', 0],
    ['info', 0],
    ['debug', 0],
  ])
  expect(await counts('key=is&prefix=un')).toEqual([
    ['unresolved', 4],
    ['unassigned', null],
    ['unhandled', null],
  ])
  expect(await counts('key=severity&limit=2')).toEqual([
    ['critical', expect.any(Number)],
    ['high', expect.any(Number)],
  ])
  expect(await counts('key=platform')).toEqual([['javascript', 4]])
  expect(await texts('key=unhandled')).toEqual(['true', 'false'])
  expect(await texts('key=lastSeen&prefix=-2')).toEqual(['-24h'])
})

test('projects are suggested by slug or name, assignees by name or word', async () => {
  const { org } = (await ada.get('/api/me')).as<{ org: { id: string } }>()
  await aPerson(server.app, { org: { id: org.id, slug: '' }, role: 'member', name: 'Zoë Quick' })
  expect((await suggested('key=project&prefix=s')).items).toEqual([
    { text: 'shop', count: null, label: 'Shop' },
    { text: 'site', count: null, label: 'Site' },
  ])
  expect((await suggested('key=assigned&prefix=quick')).items).toEqual([
    { text: '"Zoë Quick"', count: null, label: 'Zoë Quick' },
  ])
  expect(await texts('key=assignee&prefix=m')).toEqual(['me'])
  const { items } = (await ada.get(`/api/issues?q=${encodeURIComponent('assigned:"Zoë Quick"')}`)).as<Answer>()
  expect(items).toEqual([])
})

test('values that identify users of apps are never suggested, their keys are', async () => {
  expect(await texts('prefix=user.e')).toEqual(['user.email'])
  for (const key of [
    'user',
    'user.id',
    'user.email',
    'user.username',
    'user.ip',
    'user_id',
    'contact',
    'tag.user.email',
    'userId',
    'username',
    'current_user',
    'uid',
    'client.ip',
  ])
    expect(await texts(`key=${key}`), key).toEqual([])
  expect(await counts('prefix=user.')).toEqual([
    ['user.id', null],
    ['user.email', 1],
    ['user.username', 1],
    ['user.ip', expect.any(Number)],
  ])
  for (const key of ['', 'key=contact&', 'key=user_id&'])
    expect(JSON.stringify(await suggested(`${key}prefix=k&limit=100`))).not.toMatch(/kim|u-77|10\.1/)
})

test('nothing of another organisation or of a deleted project is suggested', async () => {
  const eve = await aFounder(server.url)
  const other = await aProject(eve, { name: 'Other' })
  await server.event({ project: other, error: 'omega', release: 'secret@1', environment: 'vault', tags: { hush: 'x' } })
  await indexNewTerms(server.app)
  expect(await texts('key=environment', eve)).toEqual(['vault'])
  expect(await texts('prefix=hush', eve)).toEqual(['hush'])
  for (const query of [
    'key=release&prefix=sec',
    'key=environment&prefix=va',
    'prefix=hush',
    'key=hush',
    'key=project&prefix=o',
  ])
    for (const scope of ['', `&projectId=${other.id}`]) expect(await texts(query + scope), query).toEqual([])
  const gone = await aProject(ada, { name: 'Gone' })
  await server.event({ project: gone, error: 'zeta', environment: 'attic' })
  await indexNewTerms(server.app)
  expect(await texts('key=environment&prefix=at')).toEqual(['attic'])
  await server.app.db.query('update project_ids set deleted_at = now(), deleted_from = $2 where id = $1', [
    gone.id,
    (await ada.get('/api/me')).as<{ org: { id: string } }>().org.id,
  ])
  expect(await texts('key=environment&prefix=at')).toEqual([])
  expect((await suggested('key=level&prefix=e')).items).toMatchObject([{ text: 'error', count: 3 }])
})

test('of many issues the newest are counted, and the answer says so; rare values are found by their beginning', async () => {
  const eve = await aFounder(server.url)
  const project = await aProject(eve, { name: 'Large' })
  const { org } = (await eve.get('/api/me')).as<{ org: { id: string } }>()
  const ids = await seedIssues(server.app, project.id, 1_200)
  await server.app.db.query(
    `insert into issue_search (issue_id, document)
     select k.id, array_to_tsvector(array[$2, E'\\x1fhas\\x1ftier', E'\\x1dtier\\x1ft' || k.n % 2] ||
       case when k.n = 1200 then array[E'\\x1dtier\\x1frare'] else '{}' end)
     from unnest($1::uuid[]) with ordinality k (id, n)`,
    [ids, orgTerm(org.id)],
  )
  expect(await suggested('key=tier', eve)).toEqual({
    items: [
      { text: 't0', count: 250, label: null },
      { text: 't1', count: 250, label: null },
    ],
    counted_issues: 500,
    complete: false,
  })
  expect(await suggested('key=tier&prefix=ra', eve)).toEqual({
    items: [{ text: 'rare', count: 1, label: null }],
    counted_issues: 1,
    complete: true,
  })
  expect(await suggested('key=level&prefix=err', eve)).toEqual({
    items: [{ text: 'error', count: 1_200, label: null }],
    counted_issues: 1_200,
    complete: true,
  })
})

test.each([
  ['prefix=%00', 'prefix must not hold the NUL character (character 1).'],
  [`prefix=${'x'.repeat(201)}`, 'prefix must be at most 200 characters.'],
  ['limit=101', 'limit must be a whole number from 1 to 100.'],
])('%.20s is refused', async (query, error) => {
  expect(await ada.get(`/api/issues/suggestions?${query}`)).toMatchObject({ status: 400, body: { error } })
})
