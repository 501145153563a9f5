import { expect, test } from 'vitest'
import { chooseAggregate, formatMeasure, nameGroup } from './metric-model.ts'

test('values have the units that the dashboard has elsewhere', () => {
  expect(formatMeasure(1_500, 'millisecond')).toBe('1.50\u202fs')
  expect(formatMeasure(2, 'megabyte')).toBe('2\u202fMB')
  expect(formatMeasure(0.42, 'ratio')).toMatch(/^42/u)
  expect(formatMeasure(12.5, null)).toBe('12.5')
  expect(formatMeasure(3, 'request')).toBe('3\u202frequest')
  expect(formatMeasure(null, 'millisecond')).toBe('no data')
})

test('a type has its usual aggregate', () => {
  expect([chooseAggregate('counter'), chooseAggregate('gauge'), chooseAggregate('distribution')]).toEqual([
    'sum',
    'avg',
    'p95',
  ])
})

test('a group is named by its value', () => {
  expect(nameGroup({ value: 'eu', is_rest: false })).toBe('eu')
  expect(nameGroup({ value: null, is_rest: false })).toBe('without the attribute')
  expect(nameGroup({ value: null, is_rest: true })).toBe('all others')
})
