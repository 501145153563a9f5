import { expect, test } from 'vitest'
import type { AlertDelivery } from '../../api/alert-queries.ts'
import { deliveryAnswer, deliveryLook, firingFirst, formatMeasured, formatMinutes } from './look.ts'

const plain = (text: string | null): string | null => text?.replaceAll('\u202f', ' ') ?? null
const NOW = Date.parse('2026-11-20T12:00:00.000Z')

const delivery = (over: Partial<AlertDelivery>): AlertDelivery => ({
  id: 'd_1',
  action_id: null,
  action_type: 'chat',
  target: 'https://hooks.example.com/…',
  purpose: 'fired',
  state: 'pending',
  skipped: null,
  attempts: 0,
  last_status: null,
  last_error: null,
  duration_ms: null,
  next_attempt_at: null,
  created_at: '2026-11-20T12:00:00.000Z',
  delivered_at: null,
  ...over,
})

test('measured values have their unit; without a value there is no text', () => {
  expect(plain(formatMeasured(1284, 'events'))).toBe('1,284 events')
  expect(plain(formatMeasured(2.4, 'percent'))).toBe('2.4 %')
  expect(plain(formatMeasured(5310, 'ms'))).toBe('5.31 s')
  expect(plain(formatMeasured(0.8214, 'score'))).toBe('0.82')
  expect(plain(formatMeasured(12, 'percent_per_hour'))).toBe('12 % per hour')
  expect(formatMeasured(null, 'events')).toBeNull()
})

test('minutes are spoken of as hours and days from two on', () => {
  expect([15, 60, 90, 120, 1440, 10_080].map((minutes) => plain(formatMinutes(minutes)))).toEqual([
    '15 min',
    '60 min',
    '90 min',
    '2 h',
    '24 h',
    '7 d',
  ])
})

test('firing alerts come first and otherwise keep their order', () => {
  const alerts = (['resolved', 'firing', 'acknowledged', 'expired', 'firing'] as const).map((state, id) => ({
    state,
    id,
  }))
  expect(firingFirst(alerts).map(({ id }) => id)).toEqual([1, 4, 2, 0, 3])
})

test('a delivery is called failed only when no attempt is left', () => {
  const waiting = delivery({ state: 'failed', next_attempt_at: '2026-11-20T12:03:00.000Z', attempts: 1 })
  expect(plain(deliveryLook(waiting, NOW).text)).toBe('Retry in 3 min')
  expect(deliveryLook(delivery({ state: 'failed' }), NOW)).toMatchObject({ tone: 'red', text: 'Failed' })
  expect(deliveryLook(delivery({ state: 'skipped', skipped: 'The channel was removed.' }), NOW).text).toBe('Not sent')
})

test('the answer is that of the receiver, or why there was none', () => {
  expect(plain(deliveryAnswer(delivery({ state: 'delivered', last_status: 200, duration_ms: 142 })))).toBe(
    '200 in 142 ms',
  )
  expect(deliveryAnswer(delivery({ state: 'failed', last_status: 503, last_error: 'upstream' }))).toBe('503: upstream')
  expect(deliveryAnswer(delivery({ state: 'failed', last_status: 503, last_error: 'It answered 503.' }))).toBe(
    'It answered 503.',
  )
  expect(deliveryAnswer(delivery({ state: 'failed', last_error: 'timeout after 10 s' }))).toBe('timeout after 10 s')
  expect(plain(deliveryAnswer(delivery({ state: 'delivered', duration_ms: 90 })))).toBe('accepted in 90 ms')
  expect(deliveryAnswer(delivery({ state: 'skipped', skipped: 'Held back by quiet hours.' }))).toBe(
    'Held back by quiet hours.',
  )
  expect(deliveryAnswer(delivery({}))).toBeNull()
})
