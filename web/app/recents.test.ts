import { afterEach, expect, test, vi } from 'vitest'
import { addRecent, forgetRecents, readRecents } from './recents.ts'

const stored = new Map<string, string>()
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})

afterEach(() => stored.clear())

test('newest first, one entry per page, at most six', () => {
  for (const n of [1, 2, 3, 4, 5, 6, 7]) addRecent({ href: `/issues/${n}`, title: `Issue ${n}` })
  addRecent({ href: '/issues/5?event=oldest', title: 'Issue 5' })
  expect(readRecents().map(({ href }) => href)).toEqual([
    '/issues/5?event=oldest',
    '/issues/7',
    '/issues/6',
    '/issues/4',
    '/issues/3',
    '/issues/2',
  ])
})

test('what was stored by something else is left out', () => {
  stored.set('faultline.recent', '[{"href":"https://evil.example","title":"x"},{"href":"/issues","title":"Issues"},5]')
  expect(readRecents()).toEqual([{ href: '/issues', title: 'Issues' }])
  stored.set('faultline.recent', 'not json')
  expect(readRecents()).toEqual([])
})

test('the next member of the browser finds none', () => {
  addRecent({ href: '/issues/1', title: 'Issue 1' })
  forgetRecents()
  expect(readRecents()).toEqual([])
})
