import { expect, test } from 'vitest'
import { formatPerSecond } from './format-rate.ts'

test('rates below one a second are by the minute', () => {
  expect([0, 0.03, 0.5, 1.26, 42.4].map(formatPerSecond)).toEqual(['0/s', '1.8/min', '30/min', '1.3/s', '42/s'])
})
