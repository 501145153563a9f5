import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { aPerson, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { IssueSort, IssueStatus } from '../rules/issue.api.ts'
import { issueIdsMatching, listIssues, searchIssues } from './list-issues.ts'
import { issuesByIndex } from './compile-query.queries.ts'
import { orgTerm } from './index-terms.ts'
import { findByDocument, insertDocuments } from './search.queries.ts'

/** Few matches are read by id, more by the index, very many one by one: lists must be the same each way. */

const { app, logLines } = await testApp()
const COUNT = 4_800
const now = app.clock.now().getTime()
const STATUSES = ['unresolved', 'resolved', 'ignored'] as const
let member: Person
let projectId: string

type Known = { id: string; number: number; seen: number; status: IssueStatus; words: string[] }
let known: Known[] = []

const projectOf = async (owner: Person): Promise<string> => {
  const id = newId()
  await app.db
    .insertInto('projects')
    .values({
      id,
      org_id: owner.actor.orgId,
      name: 'Shop',
      slug: `shop-${id.slice(-6)}`,
      platform: 'web',
      region: 'eu-central-1',
      created_at: app.clock.now(),
    })
    .execute()
  return id
}

const wordsOf = (number: number): string[] => [
  'common',
  ...(number % 2 === 0 ? ['even'] : []),
  ...(number % 3 === 0 ? ['third'] : []),
  ...(number % 100 === 0 ? ['seldom'] : []),
]

/** Several times are within the same five seconds, some equal; times of the queries below are inside a slot. */
const seenOf = (number: number): number => now - Math.floor(number / 3) * 700

beforeAll(async () => {
  member = await aPerson(app)
  projectId = await projectOf(member)
  const stranger = await aPerson(app)
  const [ids, others] = [
    await seedIssues(app, projectId, COUNT),
    await seedIssues(app, await projectOf(stranger), COUNT),
  ]
  known = ids.map((id, index) => ({
    id,
    number: index + 1,
    seen: seenOf(index + 1),
    status: STATUSES[(index + 1) % 3] ?? 'unresolved',
    words: wordsOf(index + 1),
  }))
  await app.db.query(
    `update issues i set last_seen = to_timestamp(k.seen / 1000.0), status = k.status from unnest($1::uuid[], $2::bigint[], $3::text[]) k (id, seen, status)
     where i.id = k.id`,
    [ids, known.map(({ seen }) => seen), known.map(({ status }) => status)],
  )
  await app.tx((tx) => {
    const document = (orgId: string, id: string, index: number) => ({
      orgId,
      issueId: id,
      terms: wordsOf(index + 1),
    })
    insertDocuments(
      tx,
      ids.map((id, index) => document(member.actor.orgId, id, index)),
    )
    insertDocuments(
      tx,
      others.map((id, index) => document(stranger.actor.orgId, id, index)),
    )
    return Promise.resolve()
  })
  await app.db.query('analyze issues, issue_search')
})

type Asked = { q: string; status?: IssueStatus[]; seen_since?: string; projectId?: string[]; sort?: IssueSort }

const walk = async (asked: Asked, limit = 400): Promise<string[]> => {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await searchIssues(app, member.actor, { sort: '-last_seen', limit, offset: 0, cursor, ...asked })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return ids
}

const newestFirst = (a: Known, b: Known): number => b.seen - a.seen || (a.id < b.id ? 1 : -1)
/** A time inside a slot of five seconds. */
const SINCE = new Date(Math.floor((now - 300_000) / 5_000) * 5_000 + 2_300)
const has = (word: string) => (issue: Known) => issue.words.includes(word)

const CASES: readonly [name: string, asked: Asked, matches: (issue: Known) => boolean][] = [
  ['all', { q: 'common' }, () => true],
  ['some', { q: 'even' }, has('even')],
  ['few', { q: 'seldom' }, has('seldom')],
  ['none', { q: 'nowhere' }, () => false],
  ['by a prefix', { q: 'thi' }, has('third')],
  ['without some', { q: '-even' }, (issue) => !has('even')(issue)],
  ['without few', { q: '-seldom' }, (issue) => !has('seldom')(issue)],
  ['without all', { q: '-common' }, () => false],
  ['with and without', { q: 'even -third' }, (issue) => has('even')(issue) && !has('third')(issue)],
  ['either', { q: '(even OR third)' }, (issue) => has('even')(issue) || has('third')(issue)],
  ['either, or a status', { q: '(even OR is:resolved)' }, (issue) => has('even')(issue) || issue.status === 'resolved'],
  ['of a status', { q: 'even', status: ['resolved'] }, (issue) => has('even')(issue) && issue.status === 'resolved'],
  ['of a project', { q: 'even is:ignored' }, (issue) => has('even')(issue) && issue.status === 'ignored'],
  [
    'since a time inside a slot',
    { q: 'common', seen_since: SINCE.toISOString() },
    (issue) => issue.seen >= SINCE.getTime(),
  ],
  [
    'since a time in the query',
    { q: `even last_seen:>=${SINCE.toISOString()}` },
    (issue) => has('even')(issue) && issue.seen >= SINCE.getTime(),
  ],
  [
    'since the later of two times',
    { q: `even last_seen:>=${SINCE.toISOString()}`, seen_since: new Date(now - 20_000).toISOString() },
    (issue) => has('even')(issue) && issue.seen >= now - 20_000,
  ],
  [
    'between two times',
    { q: `even last_seen:>=${SINCE.toISOString()} last_seen:<${new Date(now - 20_000).toISOString()}` },
    (issue) => has('even')(issue) && issue.seen >= SINCE.getTime() && issue.seen < now - 20_000,
  ],
]

test.each(CASES)('lists contain and count every match once, newest first: %s', async (_name, asked, matches) => {
  const expected = known.filter(matches).toSorted(newestFirst)
  const ids = expected.map(({ id }) => id)
  expect(await walk(asked)).toEqual(ids)
  const inProject = { ...asked, projectId: [projectId] }
  expect(await walk(inProject, 131)).toEqual(ids)
  const page = await searchIssues(app, member.actor, { sort: '-last_seen', limit: 7, offset: 11, ...asked })
  expect(page.items.map(({ id }) => id)).toEqual(ids.slice(11, 18))
  expect(page.total).toBe(expected.length)
  expect(page.total_capped).toBeUndefined()
  const listed = await listIssues(app, member.actor, { sort: 'last_seen', limit: 5, offset: 0, ...inProject })
  expect(listed.total).toBe(expected.length)
  expect(listed.items.map(({ last_seen }) => Date.parse(last_seen))).toEqual(
    expected
      .toReversed()
      .slice(0, 5)
      .map(({ seen }) => seen),
  )
  const ofStatus = (status: string) =>
    known.filter(
      (issue) => issue.status === status && (asked.status === undefined ? matches(issue) : has('even')(issue)),
    )
  for (const status of STATUSES) expect(listed.status_counts[status]).toBe(ofStatus(status).length)
})

test('findByDocument returns ids of few matches, and otherwise whether there are many', async () => {
  const { orgId } = member.actor
  expect(await findByDocument(app.db, orgId, `'seldom'`, { few: 100, many: 1_000 })).toHaveLength(48)
  expect(await findByDocument(app.db, orgId, `'seldom'`, { few: 48, many: 1_000 })).toHaveLength(48)
  expect(await findByDocument(app.db, orgId, `'seldom'`, { few: 47, many: 1_000 })).toBe('some')
  expect(await findByDocument(app.db, orgId, `'common'`, { few: 100, many: COUNT })).toBe('some')
  expect(await findByDocument(app.db, orgId, `'common'`, { few: 100, many: COUNT - 1 })).toBe('many')
  expect(await findByDocument(app.db, orgId, `'common'`, { few: 100, many: 1_000_000 })).toBe('some')
})

test('a word that all documents contain is searched in the index, not in each document', async () => {
  const { rows } = await sql<{
    'QUERY PLAN': string
  }>`explain ${issuesByIndex(member.actor.orgId, `'common'`)}`.execute(app.db)
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('issue_search_by_document')
})

test('documents are stored outside the table’s pages, short ones too', async () => {
  const { rows } = await app.db.query<{ bytes: number; kept: number }>(
    `select (pg_relation_size('issue_search') / count(*))::int as bytes, max(pg_column_size(filler)) as kept from issue_search`,
  )
  expect(rows[0]?.bytes).toBeLessThan(200)
  expect(rows[0]?.kept).toBeLessThan(100)
})

describe('infix patterns', () => {
  let owner: Person
  const MANY = 10_001
  const search = (q: string, over: Partial<Asked> = {}) =>
    searchIssues(app, owner.actor, { q, sort: '-last_seen', limit: 10, offset: 0, ...over })
  const numbers = (page: Awaited<ReturnType<typeof search>>) => page.items.map(({ title }) => Number(/\d+/.exec(title)))

  beforeAll(async () => {
    owner = await aPerson(app)
    const ids = await seedIssues(app, await projectOf(owner), MANY)
    await app.db.query(
      `insert into issue_search (issue_id, document)
       select k.id, array_to_tsvector(array[$2, E'\\x1fhas\\x1ftenant', E'\\x1dtenant\\x1ft' || k.n || '_%', E'\\x1dtier\\x1f' || k.n % 2, E'\\x1dzone\\x1f9_%'] ||
         case when k.n % 1000 = 0 then array['seldom'] else '{}' end)
       from unnest($1::uuid[]) with ordinality k (id, n)`,
      [ids, orgTerm(owner.actor.orgId)],
    )
    await app.db.query(`update issues set status = 'ignored' where id = any($1)`, [ids.slice(0, 3_000)])
  })

  test('match within the other parts of the query, at any position', async () => {
    // The text after the star matches in no other value.
    expect((await search('tenant:t*_% tier:1 tenant:t1*9_%')).total).toBe(111)
    expect((await search('tenant:t*9_% tier:1')).total).toBe(1_000)
    expect((await search('tenant:t*9_% is:ignored')).total).toBe(300)
    expect((await search('tenant:t*9_%', { status: ['ignored'] })).total).toBe(300)
    // The counts of the tabs ignore the status filter.
    const { total, status_counts: counts } = await listIssues(app, owner.actor, {
      q: 'tier:1 tenant:t*9_%',
      status: ['ignored'],
      sort: '-last_seen',
      limit: 10,
      offset: 0,
    })
    expect([total, counts.ignored, counts.unresolved]).toEqual([300, 300, 700])
    expect((await search('tier:0 -tenant:t*8_%')).total).toBe(4_000)
    expect((await search('tier:0 (tenant:t*8_% OR tenant:[t*6_%, "t4_%"])')).total).toBe(2_001)
    const page = await search('seldom tenant:t*000_%')
    expect([page.total, numbers(page)]).toEqual([10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => n * 1_000)])
    expect((await search('seldom tenant:t*zzz')).total).toBe(0)
  })

  test('may begin with the star, also in texts of the newest event', async () => {
    expect((await search('tier:1 tenant:*9_%')).total).toBe(1_000)
    expect((await search('is:ignored tenant:*9_%')).total).toBe(300)
    expect((await search('tier:0 -tenant:[*8_%, t1*]')).total).toBe(3_555)
    expect((await search('seldom tenant:*zzz')).total).toBe(0)
    expect((await search('is:ignored title:*9*is*')).total).toBe(813)
    expect((await search('seldom message:*000*missing')).total).toBe(10)
    expect((await search('seldom culprit:*src/FIND* title:*1000*')).total).toBe(2)
    expect((await search('is:ignored title:"->"')).total).toBe(0)
  })

  test.each([
    ['tenant:t*9', 'q: tenant:t*9 would scan more than 10,000 issues; '],
    ['(seldom OR tenant:t*9)', 'q: tenant:t*9 would scan more than 10,000 issues; '],
    ['tenant:*9', 'q: tenant:*9 would scan more than 10,000 issues; '],
    ['title:*missing', 'q: title:*missing would scan more than 10,000 issues; '],
    ['seldom OR message:"->"', 'q: message:"->" would scan more than 10,000 issues; '],
    ['tier:[0, 1] -tenant:[t*9, zz]', 'q: tenant:[t*9, zz] would scan more than 10,000 issues; '],
  ])('are refused beyond the maximum of scanned documents: %s', async (q, sentence) => {
    const place = q.search(/tenant|title|message/) + 1
    await expect(search(q)).rejects.toThrow(
      `${sentence}write more before the *, or narrow the search (character ${place}).`,
    )
    await expect(issueIdsMatching(app, owner.actor, { q }, 10, 'query')).rejects.toThrow(/^query: /)
  })

  /** Returns the answer while another transaction locks a table and the waiting statement is cancelled. */
  async function answerOnTimeout(table: 'issue_search' | 'issues', ask: () => Promise<unknown>): Promise<unknown> {
    const blocker = await app.db.reserve()
    try {
      await blocker.query(`begin; lock table ${table}`)
      const answer = ask().catch((error: unknown) => error)
      await waitFor('the search to wait', async () => {
        const { rows } = await app.db.query(
          `select pg_cancel_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%${table}%'`,
        )
        return rows.length > 0
      })
      return await answer
    } finally {
      await blocker.query('rollback')
      blocker.release()
    }
  }

  test('a search that times out is refused and logged', async () => {
    expect(await answerOnTimeout('issue_search', () => search('seldom'))).toMatchObject({
      code: 'invalid',
      message: 'q: the search takes too long; narrow it by a project, a time or more words.',
    })
    expect(logLines.filter(({ msg }) => msg === 'a search was cancelled because it took too long')).toMatchObject([
      { level: 'warn', err: { code: '57014' } },
    ])
  })

  test.each(['', '  '])('without a query (%j) a timeout is not the caller’s error', async (q) => {
    expect(await answerOnTimeout('issues', () => issueIdsMatching(app, owner.actor, { q }, 10))).toMatchObject({
      code: '57014',
    })
  })
})
