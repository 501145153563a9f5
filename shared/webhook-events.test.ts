import { expect, test } from 'vitest'
import { COMMON_FIELDS, nearestType, WEBHOOK_EVENTS } from './webhook-events.ts'
import { KINDS, factKind, type FactKind } from '#server/history/facts/kinds.ts'

const kinds = (Object.keys(KINDS) as FactKind[]).filter((kind) => factKind(kind).webhook !== undefined)

test('the catalogue has every event type that a kind of fact names, and no other', () => {
  const named = new Set(kinds.map((kind) => factKind(kind).webhook))
  expect(named).toEqual(new Set(WEBHOOK_EVENTS.map(({ type }) => type)))
  expect(named.size).toBe(WEBHOOK_EVENTS.length)
})

test.each(kinds)('every field of %s is known from its fact, or from the request', (kind) => {
  const event = WEBHOOK_EVENTS.find(({ type }) => type === factKind(kind).webhook)
  expect(Object.keys(KINDS[kind].data.shape)).toEqual(expect.arrayContaining([...(event?.fields ?? [])]))
  expect(event?.fields.filter((field) => (COMMON_FIELDS as readonly string[]).includes(field))).toEqual([])
})

test.each([
  ['signin.pasword.ok', 'signin.password.ok'],
  ['password_changed', 'password.changed'],
  ['user.password_changed', 'password.changed'],
  ['SESSION.REVOKED', 'session.revoked'],
  ['device', 'device.new'],
  ['mfa.enrolled', 'mfa.totp.enrolled'],
])('the type closest to %s is %s', (given, nearest) => {
  expect(nearestType(given)).toBe(nearest)
})
