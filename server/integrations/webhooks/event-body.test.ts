import { expect, test } from 'vitest'
import { WEBHOOK_EVENTS, webhookEvent } from '#shared/webhook-events.ts'
import { eventBody, type EventContent } from './event-body.ts'

const CONTENT: EventContent = {
  id: 'evt_1',
  appId: 'app_1',
  userId: 'u',
  occurredAt: new Date('2026-11-20T12:00:00.123Z'),
  data: {},
}

const bodyOf = (type: string, content: Partial<EventContent> = {}): string => {
  const event = webhookEvent(type)
  if (event === undefined) throw new Error(type)
  return eventBody(event, { ...CONTENT, ...content }).toString()
}

test('the keys have the order of the specification, and unknown values are null', () => {
  expect(bodyOf('signin.password.ok', { data: { email: 'zoë@example.com', ip: '192.0.2.1' } })).toBe(
    '{"id":"evt_1","type":"signin.password.ok","app_id":"app_1","user_id":"u","occurred_at":"2026-11-20T12:00:00.123Z",' +
      '"data":{"email":"zoë@example.com","ip":"192.0.2.1","user_agent":null,"session_id":null,"method":null}}',
  )
})

test.each(WEBHOOK_EVENTS.map(({ type }) => type))('%s: only the fields of the type leave the service', (type) => {
  const secrets = { token: 'canary', password_hash: 'canary', secret: 'canary', refresh_token: 'canary' }
  expect(bodyOf(type, { data: { ...secrets, email: 'a@example.com' } })).not.toContain('canary')
})

test('a body over 64 KiB has only ids, and says so', () => {
  const event = webhookEvent('device.new')
  if (event === undefined) throw new Error('no such type')
  const label = (bytes: number) => ({
    session_id: 's',
    device_id: 'd',
    device_label: 'ü'.repeat(bytes / 2),
    first: true,
  })
  const small = eventBody(event, { ...CONTENT, data: label(0) }).length
  const largest = eventBody(event, { ...CONTENT, data: label(65_536 - small - (small % 2)) })
  expect(largest.length).toBeLessThanOrEqual(65_536)
  expect(largest.length).toBeGreaterThan(65_500)
  const body = bodyOf('device.new', { data: label(65_538) })
  expect(JSON.parse(body)).toEqual({
    id: 'evt_1',
    type: 'device.new',
    app_id: 'app_1',
    user_id: 'u',
    occurred_at: '2026-11-20T12:00:00.123Z',
    data: { session_id: 's', device_id: 'd', truncated: true },
  })
})
