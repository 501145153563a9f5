import { expect, test } from 'vitest'
import { joinMarks } from './histogram.tsx'

const labelsOf = (...values: number[]) =>
  joinMarks(
    values.map((value, index) => ({ value, label: ['P50', 'P75', 'P95'][index] ?? '' })),
    1_000,
  ).map(({ at, label }) => [at, label])

test('lines that are close to each other share one name, so that none is without', () => {
  expect(labelsOf(100, 400, 900)).toEqual([
    [0.1, 'P50'],
    [0.4, 'P75'],
    [0.9, 'P95'],
  ])
  expect(labelsOf(400, 430, 900)).toEqual([
    [0.4, 'P50, P75'],
    [0.43, ''],
    [0.9, 'P95'],
  ])
  expect(labelsOf(400, 430, 460)).toEqual([
    [0.4, 'P50, P75, P95'],
    [0.43, ''],
    [0.46, ''],
  ])
  expect(labelsOf(400, 430, 1_200)).toEqual([
    [0.4, 'P50, P75'],
    [0.43, ''],
  ])
})
