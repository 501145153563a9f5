import { expect, test } from 'vitest'
import type { EventRow } from '../../../../api/issue-event-queries.ts'
import { columnCell, chosenColumns, listColumns, defaultColumns } from './columns.ts'

const row = (fields: Partial<EventRow>): EventRow => ({
  event_id: '0'.repeat(32),
  occurred_at: '2026-11-20T12:00:00.000Z',
  received_at: '2026-11-20T12:00:00.000Z',
  title: 'PayError: pay failed',
  level: 'error',
  release: 'shop@1.0.0+7',
  environment: 'production',
  user: null,
  device: 'Pixel 7a',
  os: 'Android 15',
  is_unhandled: false,
  tags: [],
  ...fields,
})
const ids = (columns: readonly { id: string }[]) => columns.map(({ id }) => id)
const tags = (values: Record<string, string>) => Object.entries(values).map(([key, value]) => ({ key, value }))

test('a value that all events share gets no column, except what is always of interest', () => {
  const same = [row({}), row({})]
  expect(ids(defaultColumns(same))).toEqual(['release', 'environment', 'user', 'device'])
  expect(ids(defaultColumns([row({}), row({ title: 'PayError: card declined', os: 'Android 14' })]))).toEqual([
    'event',
    'release',
    'environment',
    'user',
    'device',
    'os',
  ])
})

test('tags that tell events apart get a column, at most three, and not what another column says', () => {
  const one = row({ tags: tags({ a: '1', b: '1', c: '1', d: '1', same: 'x', release: '1' }) })
  const two = row({ tags: tags({ a: '2', b: '2', c: '2', d: '2', same: 'x', release: '2' }) })
  expect(ids(defaultColumns([one, two])).filter((id) => id.startsWith('tag.'))).toEqual(['tag.a', 'tag.b', 'tag.c'])
  expect(ids(listColumns([one, two])).filter((id) => id.startsWith('tag.'))).toContain('tag.same')
})

test('the columns of an address: unknown names are dropped, tags stay even if no loaded event has them', () => {
  expect(ids(chosenColumns([row({})], ['os', 'level', 'nonsense', 'tag.store']))).toEqual(['level', 'os', 'tag.store'])
})

test('a release is short, with the whole as its title; what is missing is empty', () => {
  const [release] = chosenColumns([], ['release'])
  const [store] = chosenColumns([], ['tag.store'])
  if (release === undefined || store === undefined) throw new Error('the columns exist')
  expect(columnCell(row({}), release)).toEqual({ text: '1.0.0', title: 'shop@1.0.0+7' })
  expect(columnCell(row({}), store)).toEqual({ text: '', title: '' })
  expect(columnCell(row({ tags: tags({ store: 'large' }) }), store).text).toBe('large')
})
