import { expect, test } from 'vitest'
import { parseSearch, PerformanceSearch, stringifySearch } from '../../address/search.ts'
import { pickHealthFilters, selectionText, shortRelease, toggled } from './filter-model.ts'

test('filters are in the address, each may repeat, and a comma is part of a name', () => {
  const search = {
    release: ['com.acme.shop@4.12.0+41200', 'web, beta'],
    device: ['SM-A125F'],
    device_class: ['low'],
  }
  const parsed = PerformanceSearch.parse(parseSearch(stringifySearch(search)))
  expect(pickHealthFilters(parsed)).toEqual(search)
  expect(
    pickHealthFilters(PerformanceSearch.parse({ release: ['', 'x'.repeat(201), 7], device_class: ['huge'] })),
  ).toEqual({})
})

test('a value is added once and removed again', () => {
  expect(toggled(undefined, 'a')).toEqual(['a'])
  expect(toggled(['a'], 'b')).toEqual(['a', 'b'])
  expect(toggled(['a', 'b'], 'a')).toEqual(['b'])
  expect(toggled(['a'], 'a')).toBeUndefined()
})

test('the text of a selection', () => {
  expect(selectionText('release', undefined, 'All releases')).toBe('All releases')
  expect(selectionText('release', ['shop@4.12.0+41200'], 'All releases')).toBe('4.12.0')
  expect(selectionText('release', ['shop@4.12.0', 'shop@4.11.3'], '')).toBe('4.12.0 and 4.11.3')
  expect(selectionText('device_class', ['low', 'high', ''], '')).toBe('Low and 2 more')
  expect(shortRelease('@')).toBe('@')
})
