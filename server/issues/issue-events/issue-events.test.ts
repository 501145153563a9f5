import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#server/platform/kernel/ids.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, dsnParts, newEventId, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { IssueDetail } from '../triage/issues.api.ts'
import type { EventRow } from './issue-events.api.ts'

/** Events of an issue through the API: list, filters, neighbours, stored JSON, users, releases, shared values. */

const server = await testServer({ realTime: true })

type List = { items: EventRow[]; total: number; total_capped?: true; next_cursor: string | null; looked_at: number }

const EVENTS = 60
let ada: Client
let project: TestProject
let issue: Issue
/** Newest first. */
const ids: string[] = []

beforeAll(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada, { name: 'Events' })
  const now = Date.now() / 1000
  for (let i = 0; i < EVENTS; i++) {
    const id = newEventId()
    ids.push(id)
    await sendEvent(
      server.url,
      project.dsn,
      anEvent({
        error: i === 11 ? { in: 'pay', value: `pay failed ${'again '.repeat(50)}and then stopped` } : 'pay',
        event_id: id,
        timestamp: now - 10 * i,
        release: i % 3 === 0 ? 'shop@2.0.0' : 'shop@1.0.0',
        environment: i % 2 === 0 ? 'production' : 'staging',
        level: i === 7 ? 'fatal' : 'error',
        user: { id: `u${i % 4}`, email: `u${i % 4}@example.com` },
        tags: {
          store: i % 5 === 0 ? 'tall' : 'small',
          shared: 'always',
          ...(i === 7 ? { level: 'gold', type: 'the tag' } : {}),
        },
        contexts: { device: { model: 'SM-A125F' }, os: { name: 'Android', version: '14' } },
        ...(i === 20 ? { breadcrumbs: Array.from({ length: 30 }, (_, n) => ({ message: `step ${n}` })) } : {}),
        extra: { password: 'hunter2', note: 'kept' },
      }),
    )
  }
  for (let i = 0; i < 20; i++) {
    await sendEvent(
      server.url,
      project.dsn,
      anEvent({ error: 'other', timestamp: now - i, tags: { shared: 'always', store: i < 4 ? 'tall' : 'small' } }),
    )
  }
  await server.service.drain()
  const found = await server.issues(ada, 'sort=-event_count')
  issue = found.find((one) => one.type === 'payError') ?? found[0]!
}, 60_000)

const list = async (query = ''): Promise<List> => {
  const answer = await ada.get(`/api/issues/${issue.id}/events${query.replaceAll(' ', '%20')}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<List>()
}
const idsOf = (page: List): string[] => page.items.map((event) => event.event_id)
const where = (holds: (i: number) => boolean): string[] => ids.filter((_, index) => holds(index))

/** All pages of a query. */
async function whole(query: string): Promise<string[]> {
  const found: string[] = []
  let cursor: string | null = null
  do {
    const page: List = await list(`${query}${cursor === null ? '' : `&cursor=${cursor}`}`)
    found.push(...idsOf(page))
    cursor = page.next_cursor
  } while (cursor !== null)
  return found
}

describe('the list', () => {
  test('lists events newest first, with the fields of a row', async () => {
    expect(issue.event_count).toBe(EVENTS)
    const page = await list()
    expect(idsOf(page)).toEqual(ids.slice(0, 25))
    expect(idsOf(await list('?offset=50'))).toEqual(ids.slice(50))
    expect(idsOf(await list('?offset=60'))).toEqual([])
    expect(page).toMatchObject({ total: EVENTS, limit: 25 })
    expect(page.total_capped).toBeUndefined()
    expect(page.items[0]).toMatchObject({
      title: 'payError: pay failed',
      release: 'shop@2.0.0',
      environment: 'production',
      user: { key: 'u0', label: 'u0@example.com' },
      device: 'SM-A125F',
      os: 'Android 14',
    })
    expect(page.items[0]?.tags).toContainEqual({ key: 'store', value: 'tall' })
  })

  test.each<[string, (i: number) => boolean]>([
    ['?limit=7', () => true],
    ['?limit=60', () => true],
    ['?limit=9&release=shop@2.0.0', (i) => i % 3 === 0],
    ['?limit=100&release=shop@2.0.0&release=shop@1.0.0', () => true],
    ['?release=2.0.0', (i) => i % 3 === 0],
    ['?release=', () => false],
    ['?limit=4&environment=staging', (i) => i % 2 === 1],
    ['?level=fatal', (i) => i === 7],
    ['?limit=3&user=u1', (i) => i % 4 === 1],
    ['?user=unknown', () => false],
    ['?limit=5&tag=store:tall', (i) => i % 5 === 0],
    ['?tag=store:tall&tag=shared:always&environment=staging', (i) => i % 5 === 0 && i % 2 === 1],
    ['?tag=device:SM-A125F&limit=30', () => true],
    ['?tag=store:huge', () => false],
    ['?q=PAY%20failed&limit=50', () => true],
    ['?q=gone', () => false],
    ['?q="Pay failed" level:fatal', (i) => i === 7],
    ['?q=env:staging release:2.*&limit=50', (i) => i % 3 === 0 && i % 2 === 1],
    ['?q=release:*2.0.0 -store:tall', (i) => i % 3 === 0 && i % 5 !== 0],
    ['?q=user:U1@Example.com&limit=4', (i) => i % 4 === 1],
    ['?q=user:u2 !environment:production OR user.id:[u3, u9]', (i) => i % 4 === 3],
    ['?q=user.email:u3*', (i) => i % 4 === 3],
    ['?q=os:android device:"sm-a125f" level:fatal has:store', (i) => i === 7],
    ['?q=has:tenant OR message:*gone* OR is:unhandled OR platform:java', () => false],
    // The end of a long text is compared too.
    ['?q=message:*THEN* message:*stopped', (i) => i === 11],
    ['?q=message:*again', () => false],
    ['?q=title:*ERROR:* culprit:pay level:[fatal]', (i) => i === 7],
    ['?q=shared:always&limit=60', () => true],
    ['?q=browser:*', () => false],
    // As the page of the issue shows them.
    ['?q=os:"Android 14" tag.level:gold', (i) => i === 7],
    ['?q=type:"the tag" tag.type:*tag', (i) => i === 7],
  ])('%s returns the matching events page by page', async (query, holds) => {
    expect(await whole(query)).toEqual(where(holds))
  })

  test('from and to limit the time of occurrence', async () => {
    expect(await whole('?from=0000-01-01T00:00:00Z&limit=100')).toEqual(ids)
    expect(await whole('?to=9999-12-31T23:59:59Z&limit=100')).toEqual(ids)
    expect(await whole('?from=0000-01-01T00:00:00Z&to=0000-01-02T00:00:00Z')).toEqual([])
    expect(await whole('?from=9999-12-31T00:00:00%2B23:59')).toEqual([])
    const { items } = await list('?limit=20')
    const [from, to] = [items[12]?.occurred_at ?? '', items[3]?.occurred_at ?? '']
    expect(await whole(`?from=${from}&to=${to}`)).toEqual(ids.slice(4, 13))
  })

  test.each([
    ['?cursor=x', 'cursor is not valid'],
    ['?cursor=1-2', 'cursor is not valid'],
    [`?cursor=1-${'a'.repeat(32)}&offset=1`, 'either cursor or offset'],
    ['?offset=5&environment=staging', 'offset cannot be combined with filters'],
    ['?tag=store', 'key:value'],
    ['?from=yesterday', 'from must be'],
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from must lie before to'],
    ['?level=loud', 'level'],
    ['?colour=red', 'colour'],
    [`?q=${'a'.repeat(2_001)}`, 'at most 2,000'],
    ['?q=pay is:resolved', 'q: is: finds issues; events have no such value (character 5).'],
    ['?q=has:assigned', 'q: assigned: finds issues'],
    ['?q=level:eror', 'q: level takes fatal, error'],
  ])('%s is refused', async (query, sentence) => {
    const answer = await ada.get(`/api/issues/${issue.id}/events${query}`)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(sentence)])
  })

  test('a filter by body reads 200 events per page, reports it, and continues by cursor', async () => {
    const noisy = await aProject(ada, { name: 'Noisy' })
    const now = Date.now() / 1000
    for (let i = 0; i < 230; i++) {
      await sendEvent(
        server.url,
        noisy.dsn,
        anEvent({ error: 'loop', timestamp: now - i, tags: { n: i === 225 ? 'x' : 'y' } }),
      )
    }
    await server.service.drain()
    const [one] = await server.issues(ada, `projectId=${noisy.id}`)
    const first = (await ada.get(`/api/issues/${one?.id}/events?tag=n:x`)).as<List>()
    expect(first).toMatchObject({ items: [], looked_at: 200, total: 0, total_capped: true })
    const rest = (await ada.get(`/api/issues/${one?.id}/events?tag=n:x&cursor=${first.next_cursor}`)).as<List>()
    expect(rest).toMatchObject({ looked_at: 30, next_cursor: null })
    expect(rest.items).toHaveLength(1)
  }, 60_000)
})

describe('one event', () => {
  const detail = async (query: string) => (await ada.get(`/api/issues/${issue.id}?${query}`)).as<IssueDetail>()

  test('the latest, the oldest, the most complete, and the neighbours of an event', async () => {
    expect((await detail('event=latest')).event?.event_id).toBe(ids[0])
    expect((await detail('event=oldest')).event?.event_id).toBe(ids.at(-1))
    expect((await detail('event=most_complete')).event?.event_id).toBe(ids[20])
    expect((await detail(`event=${ids[10]}`)).event_ids).toEqual({
      latest: ids[0],
      oldest: ids.at(-1),
      newer: ids[9],
      older: ids[11],
    })
  })

  test('filters apply to the chosen event and its neighbours', async () => {
    const staging = where((i) => i % 2 === 1)
    expect((await detail('event=latest&environment=staging')).event?.event_id).toBe(staging[0])
    expect((await detail(`event=${staging[4]}&environment=staging`)).event_ids).toEqual({
      latest: staging[0],
      oldest: staging.at(-1),
      newer: staging[3],
      older: staging[5],
    })
    const tall = where((i) => i % 5 === 0)
    expect((await detail(`event=${tall[1]}&tag=store:tall`)).event_ids).toMatchObject({
      newer: tall[0],
      older: tall[2],
    })
    expect((await detail('event=latest&release=none')).event).toBeNull()
  })

  test('the stored JSON is scrubbed; an event of another issue or organisation is 404', async () => {
    const answer = await ada.get(`/api/issues/${issue.id}/events/${ids[3]}`)
    expect(answer.body).toMatchObject({
      event: { event_id: ids[3], title: 'payError: pay failed' },
      payload: { event_id: ids[3], extra: { note: 'kept' }, tags: { shared: 'always' } },
    })
    expect(answer.text).not.toContain('hunter2')
    expect((await ada.get(`/api/issues/${issue.id}/events/${newEventId()}`)).status).toBe(404)
    const eve = await aFounder(server.url)
    expect((await eve.get(`/api/issues/${issue.id}/events/${ids[3]}`)).status).toBe(404)
    const [stranger] = (await ada.get('/api/issues?sort=-event_count&limit=5'))
      .as<{ items: Issue[] }>()
      .items.filter(({ id }) => id !== issue.id)
    expect((await ada.get(`/api/issues/${stranger?.id}/events/${ids[3]}`)).status).toBe(404)
    expect((await ada.get(`/api/issues/${newId()}/events`)).status).toBe(404)
  })
})

test('an event id that another issue has, too, returns the event of this issue', async () => {
  const id = ids[3] ?? ''
  // Ids are unique for a week; this one was received again later.
  await server.app.db.query(
    `do $$ begin execute format('create table events_of_2001 partition of events for values from (%L) to (%L)', '2001-01-01', '2001-01-02'); end $$`,
  )
  await server.app.db.query(
    `insert into events select (jsonb_populate_record(e, jsonb_build_object('received_day', '2001-01-01', 'issue_id', $2::uuid, 'received_at', '2001-01-01T00:00:00Z'))).*
     from events e where e.event_id = $1::uuid`,
    [id, newId()],
  )
  for (const path of [`/api/issues/${issue.id}/events/${id}`, `/api/issues/${issue.id}?event=${id}`])
    expect(await ada.get(path), path).toMatchObject({ status: 200, body: { event: { event_id: id } } })
})

describe('aggregates', () => {
  test('users, by their number of events', async () => {
    const page = (await ada.get(`/api/issues/${issue.id}/users?limit=3`)).body
    expect(page).toMatchObject({ total: 4, looked_at: EVENTS, complete: true })
    expect(page['items']).toMatchObject([
      { key: 'u0', label: 'u0@example.com', events: 15, last_event_id: ids[0] },
      { key: 'u1', events: 15 },
      { key: 'u2', events: 15 },
    ])
    expect((await ada.get(`/api/issues/${issue.id}/users?offset=3`)).body['items']).toMatchObject([{ key: 'u3' }])
  })

  test('the trend counts every event once, in every range', async () => {
    for (const [range, buckets] of [
      ['24h', 24],
      ['7d', 84],
      ['14d', 84],
      ['30d', 90],
      ['90d', 90],
    ] as const) {
      const { body } = await ada.get(`/api/issues/${issue.id}/trend?range=${range}`)
      expect(body).toMatchObject({ range, total: EVENTS })
      expect(body['counts']).toHaveLength(buckets)
    }
    expect((await ada.get(`/api/issues/${issue.id}/trend?range=1y`)).status).toBe(400)
  })

  test('releases with their counts', async () => {
    const { body } = await ada.get(`/api/issues/${issue.id}/releases`)
    expect(body).toMatchObject({
      items: [
        { release: 'shop@2.0.0', events: 20, share: 0.333333 },
        { release: 'shop@1.0.0', events: 40 },
      ],
      looked_at: EVENTS,
      complete: true,
    })
  })

  test('shared values that other events do not have come first', async () => {
    const { body } = await ada.get(`/api/issues/${issue.id}/tags`)
    expect(body).toMatchObject({ events: EVENTS, baseline_events: 20 })
    const items = body['items'] as { key: string; value: string; share: number; baseline_share: number; lift: number }[]
    const of = (key: string, value: string) => items.find((one) => one.key === key && one.value === value)
    expect(of('device', 'SM-A125F')).toMatchObject({ share: 1, baseline_share: 0 })
    expect(of('shared', 'always')).toMatchObject({ share: 1, baseline_share: 1, lift: 1.03 })
    expect(of('store', 'tall')).toMatchObject({ share: 0.2, baseline_share: 0.2 })
    const lifts = items.map(({ lift }) => lift)
    expect(lifts).toEqual(lifts.toSorted((a, b) => b - a))
    expect(lifts[0]).toBeGreaterThan(10)
  })
})

test('the stored JSON keeps numbers as they were written, also those a double cannot hold', async () => {
  const odd = await aProject(ada)
  const numbers = '{"big":12345678901234567890,"far":1e400,"one":1.0,"minus":-0,"plain":42,"word":"1e400"}'
  const id = newEventId()
  const { key, projectNumber } = dsnParts(odd.dsn)
  const sent = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{"event_id":"${id}"}\n{"type":"event"}\n{"event_id":"${id}","message":"odd","extra":${numbers}}\n`,
  })
  expect(sent.status).toBe(200)
  await server.service.drain()
  const [one] = (await ada.get(`/api/projects/${odd.id}/issues`)).as<{ items: Issue[] }>().items
  const { text } = await ada.get(`/api/issues/${one?.id}/events/${id}`)
  expect(text).toContain(`"extra":${numbers}`)
})

test('pages and neighbours return each event once, also events of the same moment and of distant days', async () => {
  const odd = await aProject(ada)
  const now = Math.floor(Date.now() / 1000)
  for (let i = 0; i < 10; i++) {
    const timestamp = i < 4 ? now - 100 : i < 8 ? now - 100 + 0.1234 + i / 100_000 : now - 86_400 * (i - 7) * 5
    await sendEvent(server.url, odd.dsn, anEvent({ error: 'moment', timestamp }))
  }
  await server.service.drain()
  const [one] = (await ada.get(`/api/projects/${odd.id}/issues`)).as<{ items: Issue[] }>().items
  const at = `/api/issues/${one?.id}`
  const order = idsOf((await ada.get(`${at}/events`)).as<List>())
  expect(new Set(order).size).toBe(10)
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: List = (await ada.get(`${at}/events?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)).as<List>()
    paged.push(...idsOf(page))
    cursor = page.next_cursor
  }
  expect(paged).toEqual(order)
  for (const [from, step] of [
    ['latest', 'older'],
    ['oldest', 'newer'],
  ] as const) {
    const met: string[] = []
    for (let next: string | null = from; next !== null && met.length < 20;) {
      const detail: IssueDetail = (await ada.get(`${at}?event=${next}`)).as<IssueDetail>()
      met.push(detail.event?.event_id ?? '')
      next = detail.event_ids[step]
    }
    expect(step === 'older' ? met : met.toReversed()).toEqual(order)
  }
})
