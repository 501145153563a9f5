import { beforeEach, expect, test, vi } from 'vitest'
import { addQuery, readQueries } from './recent-queries.ts'

const stored = new Map<string, string>()
beforeEach(() => {
  stored.clear()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  })
  return () => vi.unstubAllGlobals()
})

test('the newest queries of a list come first, each once', () => {
  for (const query of ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'g']) addQuery('issues', query)
  expect(readQueries('issues')).toEqual(['g', 'f', 'e', 'd', 'c', 'a'])
  expect(readQueries('events')).toEqual([])
})

test('what cannot be read is left out', () => {
  stored.set('faultline.queries.issues', '["a", 1]')
  expect(readQueries('issues')).toEqual(['a'])
  stored.set('faultline.queries.issues', '{')
  expect(readQueries('issues')).toEqual([])
})
