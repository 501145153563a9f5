import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WebhookAttempt, WebhookDeliveryDetail } from '../../../api/webhook-queries.ts'
import {
  attemptAnswer,
  daysSentence,
  endpointAnswer,
  formatShare,
  endpointHost,
  endpointName,
  parseFieldInstant,
  isRateText,
  webhookDeliveryLook,
  attemptMarks,
  chooseEndpoint,
  marksSentence,
  matchingTypes,
  otherAttempts,
  prettyJson,
  scheduleRows,
  shortLeft,
  dayTone,
} from './model.ts'

const NOW = Date.parse('2026-11-19T14:07:00Z')
const inMs = (ms: number): string => new Date(NOW + ms).toISOString()
const plain = (text: string): string => text.replaceAll('\u202f', ' ')

const delivery = (over: Partial<WebhookDeliveryDetail> = {}): WebhookDeliveryDetail => ({
  id: 'd_01kbn2q6x4e7v9c3m8t5hw0001',
  endpoint_id: '019a0000-0000-7000-8000-000000000001',
  event_id: 'evt_01kbn2q6x4e7v9c3m8t5hw0001',
  type: 'device.new',
  state: 'pending',
  attempt: 0,
  attempts_made: 0,
  next_attempt_at: inMs(0),
  created_at: inMs(0),
  delivered_at: null,
  secret_version: 1,
  reason: null,
  last_status: null,
  last_error_code: null,
  last_duration_ms: null,
  is_erased: false,
  body: '{}',
  request_headers: [],
  schedule: [0, 60, 300, 1800, 7200, 43_200].map((delay_seconds, index) => ({ n: index + 1, delay_seconds })),
  attempts: [],
  ...over,
})

const attempt = (
  n: number,
  status: number | null,
  trigger: WebhookAttempt['trigger'] = 'schedule',
): WebhookAttempt => ({
  n,
  trigger,
  started_at: inMs(n * 1000),
  duration_ms: 100,
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  remote_ip: null,
  status,
  error_code: status === null ? 'EGRESS_TIMEOUT' : null,
  error_text: null,
  response_headers: [],
  response_body: null,
})

describe('a delivery', () => {
  const text = (over: Partial<WebhookDeliveryDetail>, isPaused = false) =>
    plain(webhookDeliveryLook(delivery(over), isPaused, NOW).text)
  const after = (attempts: number, over: Partial<WebhookDeliveryDetail>) => ({
    attempt: attempts,
    attempts_made: attempts,
    ...over,
  })

  test('is only called failed when no attempt is left', () => {
    expect(text({})).toBe('Waiting')
    expect(text({ state: 'in_flight' })).toBe('In flight')
    expect(text(after(2, { state: 'failed', next_attempt_at: inMs(170_000) }))).toBe('Retry in 3 min')
    expect(text(after(2, { state: 'failed', next_attempt_at: inMs(12_300) }))).toBe('Retry in 13 s')
    expect(text(after(2, { state: 'failed', next_attempt_at: inMs(-1) }))).toBe('Retry due')
    expect(text(after(2, { state: 'failed', next_attempt_at: inMs(60_000) }), true)).toBe('Waiting, paused')
    expect(text(after(6, { state: 'failed', next_attempt_at: null }))).toBe('Failed')
    expect(text(after(1, { state: 'delivered', next_attempt_at: null, delivered_at: inMs(0) }))).toBe('Delivered')
  })

  test('that was delivered and replayed in vain has not failed', () => {
    const replayed = after(1, { state: 'failed', next_attempt_at: null, delivered_at: inMs(0), attempts_made: 2 })
    expect(text(replayed)).toBe('Replay failed')
    expect(attemptMarks(delivery(replayed))).toEqual(['made', 'none', 'none', 'none', 'none', 'none'])
  })

  test('has a mark for each of its six attempts', () => {
    const marks = (over: Partial<WebhookDeliveryDetail>) => attemptMarks(delivery(over)).join(' ')
    expect(marks({})).toBe('next none none none none none')
    expect(marks({ state: 'in_flight' })).toBe('flying none none none none none')
    expect(marks(after(2, { state: 'failed', next_attempt_at: inMs(1) }))).toBe('failed failed next none none none')
    expect(marks(after(2, { state: 'in_flight', next_attempt_at: inMs(1) }))).toBe(
      'failed failed flying none none none',
    )
    expect(marks(after(3, { state: 'delivered', next_attempt_at: null, delivered_at: inMs(1) }))).toBe(
      'failed failed delivered none none none',
    )
    expect(marks(after(6, { state: 'failed', next_attempt_at: null }))).toBe(
      'failed failed failed failed failed failed',
    )
    // A replay succeeded after two failures, or was made after a success: the list cannot tell.
    expect(
      marks(after(2, { state: 'delivered', next_attempt_at: null, delivered_at: inMs(1), attempts_made: 3 })),
    ).toBe('made made none none none none')
    fc.assert(
      fc.property(fc.nat(6), fc.nat(3), fc.boolean(), fc.boolean(), (made, replays, isLeft, isDelivered) => {
        const row = after(made, {
          state: isDelivered ? 'delivered' : 'failed',
          attempts_made: made + replays,
          next_attempt_at: isLeft && !isDelivered ? inMs(1) : null,
          delivered_at: isDelivered ? inMs(0) : null,
        })
        expect(attemptMarks(delivery(row))).toHaveLength(6)
      }),
    )
  })

  test('says the same in a sentence', () => {
    expect(marksSentence(delivery(after(2, { state: 'failed', next_attempt_at: inMs(1) })))).toBe(
      '2 of 6 attempts, waiting for the next',
    )
    expect(
      marksSentence(
        delivery(after(6, { state: 'delivered', next_attempt_at: null, delivered_at: inMs(0), attempts_made: 8 })),
      ),
    ).toBe('6 of 6 attempts and 2 replays, delivered')
  })
})

test('a countdown has seconds only in the last minute', () => {
  const left = (ms: number) => plain(shortLeft(inMs(ms), NOW))
  expect([left(0), left(1), left(59_000), left(60_000), left(60_001), left(43_200_000)]).toEqual([
    '0 s',
    '1 s',
    '59 s',
    '1 min',
    '2 min',
    '12 h',
  ])
  expect(left(2 * 3_600_000 - 60_000)).toBe('2 h')
})

describe('the schedule', () => {
  const rows = (over: Partial<WebhookDeliveryDetail>) =>
    scheduleRows(delivery(over)).map(({ attempt: made, state }) => [made?.n ?? null, state])

  test('shows each attempt with what came of it, and what is next', () => {
    expect(
      rows({ state: 'failed', attempt: 2, next_attempt_at: inMs(1), attempts: [attempt(1, 503), attempt(2, null)] }),
    ).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [null, 'next'],
      [null, 'none'],
      [null, 'none'],
      [null, 'none'],
    ])
    expect(scheduleRows(delivery()).map(({ delay }) => plain(delay))).toEqual([
      'immediately',
      'after 1 min',
      'after 5 min',
      'after 30 min',
      'after 2 h',
      'after 12 h',
    ])
  })

  test('does not count a replay', () => {
    const replayed = delivery({
      state: 'delivered',
      attempt: 1,
      next_attempt_at: null,
      attempts: [attempt(1, 503), attempt(2, 200, 'replay')],
    })
    expect(scheduleRows(replayed)[0]).toMatchObject({ state: 'failed', attempt: { n: 1 } })
    expect(scheduleRows(replayed)[1]).toMatchObject({ state: 'none', attempt: null })
    expect(otherAttempts(replayed).map(({ n }) => n)).toEqual([2])
  })

  test('begins again with a failed replay that asked for retries', () => {
    const made = [attempt(1, 200), attempt(2, 500, 'replay')]
    const again = delivery({ state: 'failed', attempt: 1, next_attempt_at: inMs(1), attempts: made })
    expect(scheduleRows(again).map(({ attempt: one, state }) => [one?.n ?? null, state])).toEqual([
      [2, 'failed'],
      [null, 'next'],
      [null, 'none'],
      [null, 'none'],
      [null, 'none'],
      [null, 'none'],
    ])
    expect(otherAttempts(again).map(({ n }) => n)).toEqual([1])
    const later = delivery({
      state: 'delivered',
      attempt: 2,
      next_attempt_at: null,
      attempts: [1, 2, 3, 4, 5, 6].map((n) => attempt(n, 503)).concat(attempt(7, 503, 'replay'), attempt(8, 200)),
    })
    expect(scheduleRows(later).map(({ attempt: one }) => one?.n ?? null)).toEqual([7, 8, null, null, null, null])
    expect(otherAttempts(later)).toHaveLength(6)
  })
})

test('an answer is a status, or one word for what went wrong', () => {
  expect(attemptAnswer(null, null)).toBeNull()
  expect(attemptAnswer(204, null)).toEqual({ text: '204', isGood: true })
  expect(attemptAnswer(302, null)).toEqual({ text: '302', isGood: false })
  const word = (code: string) => attemptAnswer(null, code)?.text
  expect(word('EGRESS_TIMEOUT')).toBe('timeout')
  expect(word('CERT_HAS_EXPIRED')).toBe('TLS')
  expect(word('DEPTH_ZERO_SELF_SIGNED_CERT')).toBe('TLS')
  expect(word('ERR_SSL_WRONG_VERSION_NUMBER')).toBe('TLS')
  expect(word('ENOTFOUND')).toBe('DNS')
  expect(word('ECONNREFUSED')).toBe('unreachable')
  expect(word('ECONNRESET')).toBe('reset')
  expect(word('EGRESS_ADDRESS')).toBe('blocked')
  expect(word('HPE_INVALID_CONSTANT')).toBe('error')
})

test('the last answer of an endpoint names TLS only when the newest attempt ended with it', () => {
  const tlsError = { code: 'CERT_HAS_EXPIRED', text: 'certificate has expired', at: inMs(0), delivery_id: 'd' }
  const answer = (last_attempt_at: string | null) =>
    endpointAnswer({ last_status: null, last_attempt_at, tls_error: tlsError })?.text
  expect(answer(null)).toBeUndefined()
  expect(answer(inMs(0))).toBe('TLS')
  expect(answer(inMs(5))).toBe('no answer')
})

describe('thirty days', () => {
  const day = (n: number, delivered: number, failed: number) => ({
    day: `2026-11-${String(n).padStart(2, '0')}`,
    delivered,
    failed,
  })
  test('are bars by what failed', () => {
    expect([day(1, 0, 0), day(2, 3, 0), day(3, 2, 1), day(4, 0, 1)].map(dayTone)).toEqual([
      'none',
      'good',
      'some',
      'bad',
    ])
  })
  test('are a sentence', () => {
    expect(daysSentence([day(1, 0, 0)], null)).toBe('No attempts in the last 30 days.')
    expect(plain(daysSentence([day(1, 40, 0), day(2, 1, 0)], 1))).toBe(
      '100 % of 41 attempts in the last 30 days succeeded. None failed.',
    )
    expect(plain(daysSentence([day(1, 1, 1), day(2, 1, 0)], 2 / 3))).toBe(
      '66.6 % of 3 attempts in the last 30 days succeeded. Failures on 1 day, 1 Nov.',
    )
    expect(plain(daysSentence([day(1, 1, 1), day(2, 0, 1)], 1 / 3))).toMatch(
      /Failures on 2 days, most recently 2 Nov\.$/,
    )
  })
  test('a share is never rounded up to 100', () => {
    expect([1, 0.99999, 0.981, 0].map((share) => plain(formatShare(share)))).toEqual([
      '100 %',
      '99.9 %',
      '98.1 %',
      '0.0 %',
    ])
  })
})

test('small parts', () => {
  expect(endpointHost('https://ops.example.com:8443/hooks?a=1')).toBe('ops.example.com:8443')
  expect(endpointHost('not a url')).toBe('not a url')
  expect(endpointName('https://ops.example.com:8443/hooks/?a=1')).toBe('ops.example.com:8443/hooks')
  expect(endpointName('https://ops.example.com/')).toBe('ops.example.com')
  expect(endpointName(`https://ops.example.com/${'a'.repeat(60)}`)).toHaveLength(55)
  expect(prettyJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}')
  expect(prettyJson('<html>')).toBe('<html>')
  expect(prettyJson('42')).toBe('42')
  expect(parseFieldInstant('2026-11-19T14:07', 'utc')).toBe('2026-11-19T14:07:00.000Z')
  expect(parseFieldInstant('', 'utc')).toBeNull()
  expect(['', '1', '1,000', ' 20 '].every(isRateText)).toBe(true)
  expect(['0', '1001', '-1', '1.5', 'a'].some(isRateText)).toBe(false)
  const types = [
    { type: 'signin.oidc.ok', meaning: 'A user logged in with single sign-on.' },
    { type: 'device.new', meaning: 'A user logged in with a new device.' },
  ]
  expect(matchingTypes(types, 'logged DEVICE')).toEqual([types[1]])
  expect(matchingTypes(types, ' ')).toEqual(types)
})

test('the endpoint that needs attention opens first, unless the address names one', () => {
  const healthy = { id: 'a', needs_attention: false }
  const failing = { id: 'b', needs_attention: true }
  expect(chooseEndpoint([healthy, failing], undefined)).toBe(failing)
  expect(chooseEndpoint([healthy, failing], 'a')).toBe(healthy)
  expect(chooseEndpoint([healthy, failing], 'gone')).toBe(failing)
  expect(chooseEndpoint([healthy], undefined)).toBe(healthy)
  expect(chooseEndpoint([], undefined)).toBeUndefined()
})
