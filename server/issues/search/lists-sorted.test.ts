import { beforeAll, expect, test } from 'vitest'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ISSUE_SORT_FIELDS, RANGE_SORT_FIELDS } from '#shared/issue-values.ts'
import { toSlot } from '../rules/count-window.ts'
import type { IssueSort } from '../rules/issue.api.ts'
import { listIssues } from './list-issues.ts'

/** Indexes hold coarse keys, but lists must be exact. */

const server = await testApp()
const { app, clock } = server
const COUNT = 400
let member: Person
let projectId: string

beforeAll(async () => {
  member = await aPerson(app)
  projectId = newId()
  await app.db
    .insertInto('projects')
    .values({
      id: projectId,
      org_id: member.actor.orgId,
      name: 'Shop',
      slug: 'shop',
      platform: 'web',
      region: 'eu-central-1',
      created_at: app.clock.now(),
    })
    .execute()
  await seedIssues(app, projectId, COUNT)
  // Many equal counts, many times within the same five seconds, and a few outliers.
  await app.db.query(
    `update issues set event_count = (array[0, 1, 1, 1, 2, 7, 8, 9, 10, 16, 17, 1000, 1001, 123456789])[1 + number % 14],
       user_count = (number * 7919) % 300, severity = number % 4,
       last_seen = $1::timestamptz - (array[0, 1, 4999, 5000, 5001, 86400000])[1 + number % 6] * interval '1 millisecond',
       first_seen = $1::timestamptz - (number % 50) * interval '1 day',
       status = (array['unresolved', 'resolved', 'ignored'])[1 + number % 3]`,
    [app.clock.now()],
  )
  // Some issues have no events in the range.
  await app.db.query(
    `insert into issue_hours (group_id, hour, events, events_1)
     select id, date_trunc('hour', $1::timestamptz) - h * interval '1 hour', 1 + number % 5, 1 from issues, generate_series(0, number % 4) h where number % 3 > 0`,
    [app.clock.now()],
  )
  await app.db.query(
    `insert into issue_user_slots (group_id, slot, before_slot, users)
     select id, $1::int - s, 0, 1 + number % 7 from issues, generate_series(0, number % 9) s where number % 3 > 0`,
    [toSlot(app.clock.now().getTime())],
  )
  // As autovacuum does where the service runs.
  await app.db.query('analyze')
})

const walk = async (sort: IssueSort, over: Record<string, unknown> = {}, limit = 37) => {
  const items: Awaited<ReturnType<typeof listIssues>>['items'] = []
  let cursor: string | undefined
  do {
    const page = await listIssues(app, member.actor, { limit, offset: 0, sort, cursor, ...over })
    items.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return items
}

const RANK = { low: 0, medium: 1, high: 2, critical: 3 }
const FIELDS = [...ISSUE_SORT_FIELDS, ...RANGE_SORT_FIELDS]
const valueOf = (item: Awaited<ReturnType<typeof walk>>[number], key: (typeof FIELDS)[number]): number =>
  key === 'severity' ? RANK[item.severity] : key.endsWith('_seen') ? Date.parse(String(item[key])) : Number(item[key])

test.each(FIELDS.flatMap((key) => [[key, 1] as const, [key, -1] as const]))(
  'pages contain every issue once and in order: %s × %d',
  async (key, direction) => {
    const sort: IssueSort = direction === 1 ? key : `-${key}`
    for (const over of [{}, { projectId: [projectId] }, { projectId: [projectId, newId()] }]) {
      const items = await walk(sort, { ...over, range: '24h' })
      expect(new Set(items.map(({ id }) => id)).size).toBe(COUNT)
      const sorted = items.toSorted((a, b) => direction * (valueOf(a, key) - valueOf(b, key) || (a.id < b.id ? -1 : 1)))
      expect(items.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id))
    }
  },
)

test.each([0, 1, 2_500, 4_999, 5_000, 5_001, 60_000, 90_000_000])(
  'a filter of %d ms ago is exact, in the list and in the counts',
  async (agoMs) => {
    const since = new Date(app.clock.now().getTime() - agoMs)
    const all = await walk('-last_seen', {}, 100)
    const expected = all.filter((item) => Date.parse(item.last_seen) >= since.getTime())
    const page = await listIssues(app, member.actor, {
      limit: 100,
      offset: 0,
      sort: '-last_seen',
      seen_since: since.toISOString(),
    })
    expect(page.total).toBe(expected.length)
    const counts = Map.groupBy(expected, ({ status }) => status)
    for (const [status, count] of Object.entries(page.status_counts))
      expect([status, count]).toEqual([status, counts.get(status as 'resolved')?.length ?? 0])
    const resolved = await walk('-last_seen', { seen_since: since.toISOString(), status: ['resolved'] })
    expect(resolved).toHaveLength(page.status_counts.resolved)
  },
)

test('a project of another organisation is empty, also beside an unknown project', async () => {
  const other = await aPerson(app)
  for (const projectIds of [[projectId], [projectId, newId()]]) {
    const page = await listIssues(app, other.actor, { limit: 25, offset: 0, sort: '-last_seen', projectId: projectIds })
    expect([page.items, page.total]).toEqual([[], 0])
  }
})

test('all pages sorted by counts of a range are of the range of the first', async () => {
  const of = { range: '24h', sort: '-event_count_in_range', limit: 5, offset: 0 } as const
  const first = await listIssues(app, member.actor, of)
  clock.advance(900_000)
  const cursor = first.next_cursor ?? ''
  expect((await listIssues(app, member.actor, { ...of, cursor })).range).toEqual(first.range)
  const later = (await listIssues(app, member.actor, of)).range
  expect(Date.parse(later?.from ?? '') - Date.parse(first.range?.from ?? '')).toBe(900_000)
})

test('an issue that is deleted between counting and reading leaves the following pages', async () => {
  const other = await aPerson(app)
  const id = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, created_at) values ($1, $2, 'Race', 'race', 'web', 'eu-central-1', now())`,
    [id, other.actor.orgId],
  )
  const issueIds = await seedIssues(app, id, 4)
  // Without counts, issues are in the order of their ids.
  const [first = '', second = '', third = '', fourth = ''] = issueIds.toSorted()
  const racing = interceptedApp(server, async (text, run) => {
    const result = await run()
    if (text.includes('ranked as')) await app.db.query('delete from issues where id = $1', [second])
    return result
  })
  const of = { range: '24h', sort: 'event_count_in_range', limit: 2, offset: 0 } as const
  const page = await listIssues(racing, other.actor, of)
  expect(page.items.map((item) => item.id)).toEqual([first])
  const next = await listIssues(app, other.actor, { ...of, cursor: page.next_cursor ?? '' })
  expect(next.items.map((item) => item.id)).toEqual([third, fourth])
})
