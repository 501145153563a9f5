import { afterEach, expect, test, vi } from 'vitest'
import { learnServiceTime, onServiceTime, serviceNow } from './clock.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const DAY_MS = 86_400_000
vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
afterEach(() => learnServiceTime(new Date(NOW).toUTCString()))
const answered = (ms: number): void => learnServiceTime(new Date(NOW + ms).toUTCString())

test('a clock that is a day off is corrected, and again when it is set right', () => {
  const listener = vi.fn<() => void>()
  onServiceTime(listener)
  answered(-DAY_MS)
  expect(serviceNow()).toBe(NOW - DAY_MS)
  answered(DAY_MS)
  expect(serviceNow()).toBe(NOW + DAY_MS)
  expect(listener).toHaveBeenCalledTimes(2)
  answered(400)
  expect(serviceNow()).toBe(NOW)
})

test('seconds are no difference, and an answer without a time changes nothing', () => {
  answered(20_000)
  expect(serviceNow()).toBe(NOW)
  answered(3_600_000)
  answered(3_610_000)
  learnServiceTime(null)
  learnServiceTime('soon')
  expect(serviceNow()).toBe(NOW + 3_600_000)
})
