import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setZone } from '../../ui/format.ts'
import { withLocalTimes } from './local-times.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-29T12:00:00Z') })
  setZone('utc')
})
afterEach(() => {
  vi.useRealTimers()
  setZone('local')
})

test('times and days in sentences of the service are written as elsewhere on the page', () => {
  expect(withLocalTimes('Ada resolved this issue in release 2.3.1 on 29 Nov 2026 10:34 UTC.')).toBe(
    'Ada resolved this issue in release 2.3.1 on 29 Nov, 10:34.',
  )
  expect(withLocalTimes('Severity rose to high: 116 users on 2026-11-28.')).toBe(
    'Severity rose to high: 116 users on 28 Nov.',
  )
  for (const unchanged of [
    'Fixed in shop@2026-11-28-1 and 2026-99-99, not on 31 Foo 2026 10:34 UTC.',
    'Resolved in release shop@2026-11-28.',
    'Resolved in release shop@2026-11-28+77.',
  ])
    expect(withLocalTimes(unchanged)).toBe(unchanged)
})
