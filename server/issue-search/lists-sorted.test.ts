import { beforeAll, expect, test } from 'vitest'
import { aPerson, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../kernel/ids.ts'
import { ISSUE_SORT_FIELDS } from '#shared/issue-values.ts'
import type { IssueSort } from '../issue-rules/issue.api.ts'
import { listIssues } from './list-issues.ts'

/** Indexes hold coarse keys, but lists must be exact. */

const { app } = await testApp()
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
const valueOf = (item: Awaited<ReturnType<typeof walk>>[number], key: (typeof ISSUE_SORT_FIELDS)[number]): number =>
  key === 'severity' ? RANK[item.severity] : key.endsWith('_seen') ? Date.parse(String(item[key])) : Number(item[key])

test.each(ISSUE_SORT_FIELDS.flatMap((key) => [[key, 1] as const, [key, -1] as const]))(
  'pages contain every issue once and in order: %s × %d',
  async (key, direction) => {
    const sort: IssueSort = direction === 1 ? key : `-${key}`
    for (const over of [{}, { projectId: [projectId] }, { projectId: [projectId, newId()] }]) {
      const items = await walk(sort, over)
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
