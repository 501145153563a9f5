import { expect, test } from 'vitest'
import { compileJourneys } from './match-journeys.ts'

const journeys = compileJourneys(['checkout*', '/login', 'Payment', 'flow:signup'])
const named = (fields: Record<string, unknown>, raw: Record<string, unknown> = {}) =>
  journeys?.({ transaction: null, contexts: {}, tags: [], ...fields }, raw)

test('no patterns, no matcher', () => {
  expect(compileJourneys([])).toBeNull()
})

test('an event names journeys by transaction, screen, navigation and tag', () => {
  expect(named({ transaction: 'Checkout/pay' })).toEqual(['checkout*'])
  expect(named({ contexts: { app: { view_names: ['Cart', 'payment'] } } })).toEqual(['Payment'])
  expect(named({ tags: [{ key: 'journey', value: 'checkout' }] })).toEqual(['checkout*'])
  expect(named({ tags: [{ key: 'flow', value: 'signup' }] })).toEqual(['flow:signup'])
  expect(named({ transaction: '/login', tags: [{ key: 'screen', value: 'payment' }] })).toEqual(['/login', 'Payment'])
  expect(named({ transaction: '/log' })).toEqual([])
  expect(named({ contexts: { app: { view_names: 'Payment' } } })).toEqual([])
})

test('of the breadcrumbs only the newest navigation counts', () => {
  const crumbs = [
    { category: 'ui.lifecycle', data: { screen: 'Payment', state: 'created' } },
    { type: 'navigation', data: { from: 'Payment', to: '/login' } },
    { category: 'ui.click', data: { to: 'Payment' } },
    null,
  ]
  expect(named({}, { breadcrumbs: { values: crumbs } })).toEqual(['/login'])
  expect(named({}, { breadcrumbs: crumbs.slice(0, 1) })).toEqual(['Payment'])
  expect(named({}, { breadcrumbs: 'none' })).toEqual([])
})
