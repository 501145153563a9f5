import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { editCached, mergeIntoLists, removeCached, restoreIssues, returnIssues } from '../../../api/issue-cache.ts'
import {
  toStreamFilters,
  OPEN,
  streamQuery,
  type Issue,
  type StreamData,
  type StreamPage,
} from '../../../api/issue-queries.ts'
import { keepFresh, strayIds, waitingIssues } from './fresh.ts'

const READ_AT = Date.parse('2026-11-20T08:00:00.000Z')

const anIssue = (id: string, fields: Partial<Issue> = {}): Issue => ({
  id,
  short_id: id.toUpperCase(),
  project_id: 'p',
  title: 'TypeError: x',
  culprit: '',
  type: 'TypeError',
  value: 'x',
  level: 'error',
  platform: 'node',
  status: 'unresolved',
  status_reason: null,
  status_changed_at: '2026-11-19T08:00:00.000Z',
  severity: 'high',
  severity_pinned: false,
  assignee_id: null,
  assignee: null,
  team: null,
  first_seen: '2026-11-19T08:00:00.000Z',
  last_seen: '2026-11-20T07:00:00.000Z',
  event_count: 1,
  user_count: 1,
  first_release: null,
  last_release: null,
  resolved_in_release: null,
  resolution: null,
  ignore_until: null,
  is_unhandled: false,
  tracker_ticket: null,
  ai_analysis: null,
  event_count_in_range: null,
  user_count_in_range: null,
  trend: { interval_seconds: 3600, start: '2026-11-19T09:00:00.000Z', counts: [] },
  ...fields,
})
const aPage = (items: Issue[]): StreamPage => ({
  items,
  total: items.length,
  totalCapped: false,
  nextCursor: null,
  statusCounts: { unresolved: items.length, resolved: 3 },
  hints: [],
  since: '2026-11-19T08:00:00.000Z',
  readAt: READ_AT,
  asOf: READ_AT,
})

type More = { complete?: boolean; statuses?: Issue['status'][] | null }
const waiting = (fresh: Issue[], listed: string[], { complete = true, statuses = [...OPEN] }: More = {}) =>
  waitingIssues(fresh, new Set(listed), { asOf: READ_AT, complete, statuses }).map((issue) => issue.id)

/** A second after the list was read. */
const LATER = '2026-11-20T08:00:01.000Z'

test('new issues are pending', () => {
  expect(waiting([anIssue('a'), anIssue('b')], ['a'])).toEqual(['b'])
})

test('while not all pages are loaded, only issues with a changed status are pending, because others may be further down', () => {
  const moved = (id: string, status: Issue['status']) => anIssue(id, { status, status_changed_at: LATER })
  const fresh = [
    moved('young', 'unresolved'),
    moved('regressed', 'regressed'),
    moved('escalated', 'escalated'),
    moved('closed', 'resolved'),
    anIssue('back long ago', { status: 'regressed', last_seen: LATER }),
    anIssue('further', { last_seen: LATER }),
    moved('listed', 'escalated'),
  ]
  const missing = { complete: false }
  expect(waiting(fresh, ['listed'], missing)).toEqual(['young', 'regressed', 'escalated'])
  expect(waiting(fresh, ['listed'], { ...missing, statuses: null })).toEqual(['young', 'regressed', 'escalated'])
  // In a list of closed issues, a closed issue is new.
  expect(waiting([moved('closed', 'resolved')], [], { ...missing, statuses: ['resolved'] })).toEqual(['closed'])
})

test('pending issues stay pending when a hundred others are newer, and are removed when they no longer match', () => {
  const back = anIssue('back', { status: 'escalated', status_changed_at: LATER })
  const page = (items: Issue[], nextCursor: string | null) => ({ ...aPage(items), nextCursor })
  const ids = (kept: readonly Issue[]) => kept.map(({ id }) => id)
  expect(ids(keepFresh([back, anIssue('other')], page([anIssue('a')], 'more'), READ_AT))).toEqual(['a', 'back'])
  expect(ids(keepFresh([back], page([anIssue('a')], null), READ_AT))).toEqual(['a'])
  // The list was read again.
  expect(ids(keepFresh([back], page([anIssue('a')], 'more'), READ_AT + 60_000))).toEqual(['a'])
  expect(keepFresh([back], page([{ ...back, event_count: 7 }], 'more'), READ_AT)).toMatchObject([{ event_count: 7 }])
})

test('changed rows that no longer match are read one by one', () => {
  expect(strayIds(new Set(['a', 'b', 'c']), new Set(['a', 'b']), aPage([anIssue('a')]), 5)).toEqual(['b'])
  expect(strayIds(new Set(['a', 'b']), new Set(['a', 'b']), aPage([]), 1)).toEqual(['a'])
})

function aList(items: Issue[], search: Parameters<typeof toStreamFilters>[0] = {}) {
  const client = new QueryClient()
  const { queryKey } = streamQuery(toStreamFilters(search))
  client.setQueryData<StreamData>(queryKey, { pages: [aPage(items)], pageParams: [null] })
  const read = () => client.getQueryData<StreamData>(queryKey)?.pages[0]
  return { client, read }
}

test('a resolved issue is removed from the open list and changes both counts', () => {
  const { client, read } = aList([anIssue('a'), anIssue('b')])
  editCached(client, [anIssue('a')], (issue) => ({ ...issue, status: 'resolved' }))
  expect(read()?.items.map((item) => item.id)).toEqual(['b'])
  expect(read()?.statusCounts).toEqual({ unresolved: 1, resolved: 4 })
  expect(read()?.total).toBe(1)
})

test('an issue stays in lists that its new status matches', () => {
  const { client, read } = aList([anIssue('a')], { status: ['unresolved', 'resolved'] })
  editCached(client, [anIssue('a')], (issue) => ({ ...issue, status: 'resolved' }))
  expect(read()?.items.map((item) => item.status)).toEqual(['resolved'])
})

test('updates change fields in place; no row is added, removed or moved', () => {
  const { client, read } = aList([anIssue('a'), anIssue('b')])
  mergeIntoLists(client, [anIssue('new'), anIssue('b', { event_count: 9 })])
  expect(read()?.items.map(({ id, event_count }) => [id, event_count])).toEqual([
    ['a', 1],
    ['b', 9],
  ])
})

test('a deleted issue is removed, a refused change restores its row', () => {
  const { client, read } = aList([anIssue('a'), anIssue('b')])
  removeCached(client, [anIssue('a')])
  expect(read()?.items.map((item) => item.id)).toEqual(['b'])
  expect(read()?.statusCounts?.unresolved).toBe(1)
  returnIssues(client, [anIssue('a')])
  expect(read()?.items.map((item) => item.id)).toEqual(['a', 'b'])
})

const resolved = (issue: Issue): Issue => ({ ...issue, status: 'resolved' })

test('reverting a change keeps later changes', () => {
  const { client, read } = aList(['a', 'b', 'c', 'd'].map((id) => anIssue(id)))
  const before = client.getQueriesData({ queryKey: ['issues'] })
  editCached(client, [anIssue('b')], resolved)
  // Meanwhile another issue is resolved, and an update arrives.
  editCached(client, [anIssue('c')], resolved)
  mergeIntoLists(client, [anIssue('d', { event_count: 9 })])
  restoreIssues(client, before, [anIssue('b')], resolved)
  expect(read()?.items.map((item) => item.id)).toEqual(['a', 'b', 'd'])
  expect(read()?.items.at(-1)?.event_count).toBe(9)
  expect(read()?.statusCounts).toEqual({ unresolved: 3, resolved: 4 })
  expect(read()?.total).toBe(3)
})

test('rows return to their places: the first, several in sequence, one that was not removed', () => {
  const { client, read } = aList(
    ['a', 'b', 'c', 'd'].map((id) => anIssue(id)),
    { status: ['unresolved'] },
  )
  const before = client.getQueriesData({ queryKey: ['issues'] })
  removeCached(client, [anIssue('a'), anIssue('b'), anIssue('d')])
  restoreIssues(client, before, [anIssue('a'), anIssue('b'), anIssue('d')], () => null)
  expect(read()?.items.map((item) => item.id)).toEqual(['a', 'b', 'c', 'd'])
  expect(read()?.statusCounts).toEqual({ unresolved: 4, resolved: 3 })
  const owned = (issue: Issue): Issue => ({ ...issue, assignee_id: 'me' })
  editCached(client, [anIssue('c')], owned)
  restoreIssues(client, before, [anIssue('c')], owned)
  expect(read()?.items.map((item) => item.assignee_id)).toEqual([null, null, null, null])
  expect(read()?.total).toBe(4)
})

test('an issue known only by its id is removed from lists and from the count of its row’s status', () => {
  const { client, read } = aList([anIssue('a'), anIssue('b')])
  removeCached(client, [{ id: 'a' }, { id: 'elsewhere' }])
  expect(read()?.items.map((item) => item.id)).toEqual(['b'])
  expect(read()?.statusCounts).toEqual({ unresolved: 1, resolved: 3 })
})

test('ten thousand rows are restored in less than a second', () => {
  const all = Array.from({ length: 10_000 }, (_, index) => anIssue(`i${index}`))
  const { client, read } = aList(all)
  const before = client.getQueriesData({ queryKey: ['issues'] })
  editCached(client, all, resolved)
  const startedAt = performance.now()
  restoreIssues(client, before, all, resolved)
  // A generous limit: a quadratic algorithm takes seconds.
  expect(performance.now() - startedAt).toBeLessThan(1000)
  expect(read()?.items.map((item) => item.id)).toEqual(all.map(({ id }) => id))
})
