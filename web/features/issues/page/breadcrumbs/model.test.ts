import { expect, test } from 'vitest'
import type { Breadcrumb } from '../../../../../server/events/protocol/event.api.ts'
import { crumbRows, crumbTime, crumbKind, kindsIn, toCrumbRow } from './model.ts'

const aCrumb = (fields: Partial<Breadcrumb> = {}): Breadcrumb => ({
  timestamp: '2026-11-19T14:00:00.000Z',
  type: 'default',
  category: null,
  level: 'info',
  message: null,
  data: null,
  ...fields,
})

test.each([
  ['2026-11-19T13:59:28.600Z', '−31.4\u202fs'],
  ['2026-11-19T13:59:59.960Z', '0'],
  ['2026-11-19T13:56:48.000Z', '−3\u202fmin 12\u202fs'],
  ['2026-11-19T14:00:00.300Z', '+0.3\u202fs'],
  ['not a time', ''],
])('%s is %s from the crash', (timestamp, text) => {
  expect(crumbTime(timestamp, '2026-11-19T14:00:00.000Z')).toBe(text)
})
test('without a time the text is empty', () => expect(crumbTime(null, '2026-11-19T14:00:00.000Z')).toBe(''))

test.each([
  [{ type: 'navigation' }, 'screen'],
  [{ type: 'http' }, 'http'],
  [{ category: 'fetch' }, 'http'],
  [{ category: 'xhr' }, 'http'],
  [{ category: 'ui.click' }, 'touch'],
  [{ type: 'user', category: 'ui.click' }, 'touch'],
  [{ category: 'ui.lifecycle' }, 'screen'],
  [{ category: 'app.lifecycle' }, 'state'],
  [{ type: 'system', category: 'device.event' }, 'device'],
  [{ category: 'console' }, 'log'],
  [{ type: 'query' }, 'query'],
  [{ category: 'something else' }, 'note'],
  [{ type: 'constructor' }, 'note'],
  [{ type: '__proto__', category: 'fetch' }, 'http'],
] as const)('%o is of kind %s', (fields, kind) => expect(crumbKind(aCrumb(fields))).toBe(kind))

test('navigation and requests are one line without repetition', () => {
  expect(toCrumbRow(aCrumb({ type: 'navigation', data: { from: 'Basket', to: 'Checkout' } }), 0)).toMatchObject({
    text: { move: ['Basket', 'Checkout'] },
    detail: '',
  })
  const request = toCrumbRow(
    aCrumb({ type: 'http', data: { method: 'POST', url: '/pay', status_code: 502, duration: '388 ms', attempt: 2 } }),
    0,
  )
  expect(request).toMatchObject({
    text: { sentence: 'POST /pay' },
    status: { code: '502', good: false },
    tone: 'warn',
    detail: '388 ms, attempt 2',
  })
})

test('levels become tones, a breadcrumb without a message shows its category', () => {
  expect(toCrumbRow(aCrumb({ level: 'error', message: 'no' }), 0).tone).toBe('err')
  expect(toCrumbRow(aCrumb({ level: 'warning', message: 'hm' }), 0).tone).toBe('warn')
  expect(toCrumbRow(aCrumb({ category: 'sync' }), 0).text).toEqual({ sentence: 'sync' })
})

test('types are offered if there are several, and filter the rows', () => {
  const breadcrumbs = [aCrumb({ type: 'http' }), aCrumb({ category: 'console' }), aCrumb({ type: 'http' })]
  expect(kindsIn({ breadcrumbs })).toEqual(['http', 'log'])
  expect(kindsIn({ breadcrumbs: [aCrumb({ type: 'http' })] })).toEqual([])
  expect(crumbRows({ breadcrumbs }, 'http').map((row) => row.key)).toEqual([0, 2])
  expect(crumbRows({ breadcrumbs }, 'all')).toHaveLength(3)
})
