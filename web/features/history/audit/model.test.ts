import { expect, test } from 'vitest'
import {
  actorName,
  filterWords,
  freshLabel,
  isActionFilter,
  auditSentence,
  targetName,
  repeatCountText,
} from './model.ts'

test('an actor is an address, or what kind it was', () => {
  const actor = { type: 'user' as const, id: '1', email: 'ines@example.com', role: 'owner' as const }
  expect(actorName(actor)).toBe('ines@example.com')
  expect(actorName({ ...actor, email: null })).toBe('User')
  expect(actorName({ ...actor, email: null, id: null })).toBe('Unknown')
  expect(actorName({ type: 'system', id: 'digest', email: null, role: null })).toBe('Faultline')
})

test('a target is its name at the time, else its id', () => {
  expect(targetName({ type: 'issue', id: '1', label: 'SHOP-12' })).toBe('SHOP-12')
  expect(targetName({ type: 'issue', id: '1', label: null })).toBe('1')
  expect(targetName({ type: null, id: null, label: null })).toBeNull()
})

test('refusals of one minute are counted', () => {
  expect(repeatCountText({ meta: { count: 5 } })).toBe('5 times')
  expect(repeatCountText({ meta: { count: 1 } })).toBeNull()
  expect(repeatCountText({ meta: { count: '5' } })).toBeNull()
  expect(repeatCountText({ meta: {} })).toBeNull()
})

test('a sentence is shown, a code is not', () => {
  expect(auditSentence({ meta: { reason: 'Came back in 4.12.0.' } })).toBe('Came back in 4.12.0.')
  expect(auditSentence({ meta: { reason: 'password_changed' } })).toBeNull()
})

test('the pill counts what is newer than the list', () => {
  expect(freshLabel([7, 6, 5], 7)).toBeNull()
  expect(freshLabel([8, 7, 6], 7)).toBe('1 new entry')
  expect(freshLabel([10, 9, 8, 7], 7)).toBe('3 new entries')
  expect(
    freshLabel(
      Array.from({ length: 50 }, (_, index) => 60 - index),
      3,
    ),
  ).toBe('50 or more new entries')
})

test('filters are an action or its beginning, and are named when nothing matches', () => {
  expect(['webhook.*', 'signin.failed', '*', 'a_b.c'].every(isActionFilter)).toBe(true)
  expect(['*.created', 'Issue', 'a b', '', 'a**'].some(isActionFilter)).toBe(false)
  expect(filterWords({ action: 'webhook.*', from: '2026-11-20', to: undefined })).toEqual([
    'action webhook.*',
    'since 20 Nov',
  ])
})
