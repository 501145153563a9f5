import { expect, test } from 'vitest'
import { isPrefixedId, newPrefixedId } from './ids.ts'

test('prefixed ids are unique and sort by the time of their creation', () => {
  const ids = Array.from({ length: 1_000 }, () => newPrefixedId('evt'))
  expect(new Set(ids).size).toBe(1_000)
  expect(ids.toSorted()).toEqual(ids)
  expect(ids.every((id) => isPrefixedId('evt', id))).toBe(true)
})

test.each([
  '',
  'evt_',
  'd_01',
  'evt_01jd2v7q9m',
  `evt_${'8'.repeat(26)}`,
  `evt_${'0'.repeat(25)}u`,
  `d_${'0'.repeat(26)}`,
])('%j is no id of an event', (text) => {
  expect(isPrefixedId('evt', text)).toBe(false)
})
