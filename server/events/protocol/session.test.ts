import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSession, readSessions, type SessionContext } from './session.ts'

const RECEIVED = new Date('2026-11-20T12:00:00.000Z')
const DAY_MS = 86_400_000
const SID = 'ef705bb506464fa9bdc7e8a91eefc2a6'

const context = (fields: Partial<SessionContext> = {}): SessionContext => ({
  receivedAt: RECEIVED,
  sentAt: null,
  userAgent: null,
  defaultEnvironment: 'production',
  scrubbing: {},
  ...fields,
})

const aSession = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  sid: SID,
  started: '2026-11-20T11:50:00.000Z',
  timestamp: '2026-11-20T11:55:00.000Z',
  status: 'ok',
  attrs: { release: 'shop@1.0.0' },
  ...fields,
})

describe('one session', () => {
  test('is read with all fields', () => {
    const raw = aSession({
      did: 'ada',
      init: true,
      seq: 7,
      status: 'abnormal',
      errors: 2,
      duration: 1.2344,
      abnormal_mechanism: 'anr_foreground',
      attrs: { release: 'shop@1.0.0', environment: 'staging', ip_address: '{{auto}}' },
    })
    expect(readSession(raw, context())).toEqual({
      sid: SID,
      did: 'ada',
      isInit: true,
      status: 'abnormal',
      errors: 2,
      startedAt: Date.parse('2026-11-20T11:50:00.000Z'),
      timestamp: Date.parse('2026-11-20T11:55:00.000Z'),
      durationMs: 1_234,
      mechanism: 'anr_foreground',
      attributes: { release: 'shop@1.0.0', environment: 'staging', os: null, device: null },
    })
  })

  test.each([
    ['hyphenated', 'ef705bb5-0646-4fa9-bdc7-e8a91eefc2a6'],
    ['upper case', 'EF705BB5-0646-4FA9-BDC7-E8A91EEFC2A6'],
    ['upper case without hyphens', 'EF705BB506464FA9BDC7E8A91EEFC2A6'],
  ])('has the same id %s', (_how, sid) => {
    expect(readSession(aSession({ sid }), context())).toMatchObject({ sid: SID })
  })

  test.each([
    ['nothing', undefined, null],
    ['the nil UUID', '00000000-0000-0000-0000-000000000000', null],
    ['the nil UUID without hyphens', '0'.repeat(32), null],
    ['blanks', '  ', null],
    ['a number', 42, '42'],
    ['an object', { id: 1 }, null],
    ['a name', 'ada', 'ada'],
  ])('with a did that is %s', (_what, did, read) => {
    expect(readSession(aSession({ did }), context())).toMatchObject({ did: read })
  })

  test.each([
    [undefined, 'ok'],
    [null, 'ok'],
    ['exited', 'exited'],
    ['errored', 'errored'],
    ['unhandled', 'unhandled'],
    ['crashed', 'crashed'],
  ])('of status %s is %s', (status, read) => {
    expect(readSession(aSession({ status }), context())).toMatchObject({ status: read })
  })

  test.each([
    [undefined, 0],
    [-1, 0],
    [2.9, 2],
    ['3', 3],
    [1e300, 1_000_000],
    [Number.NaN, 0],
    [[7], 0],
    [true, 0],
  ])('of errors %s has %s', (errors, read) => {
    expect(readSession(aSession({ errors }), context())).toMatchObject({ errors: read })
  })

  test.each([
    [-1, null],
    ['0.5', 500],
    [0, 0],
    [1e300, 30 * DAY_MS],
    [null, null],
  ])('of duration %s lasted %s ms', (duration, read) => {
    expect(readSession(aSession({ duration }), context())).toMatchObject({ durationMs: read })
  })

  test.each([
    ['no object', 'text', 'not_an_object'],
    ['no id', aSession({ sid: undefined }), 'bad_sid'],
    ['an invalid id', aSession({ sid: '1' }), 'bad_sid'],
    ['the nil id', aSession({ sid: '0'.repeat(32) }), 'bad_sid'],
    ['an unknown status', aSession({ status: 'levitating' }), 'unknown_status'],
    ['no attributes', aSession({ attrs: undefined }), 'no_release'],
    ['no release', aSession({ attrs: { environment: 'production' } }), 'no_release'],
    ['a forbidden release', aSession({ attrs: { release: 'latest' } }), 'bad_release'],
    ['a line break in the release', aSession({ attrs: { release: 'a\nb' } }), 'bad_release'],
    ['an object as release', aSession({ attrs: { release: {} } }), 'bad_release'],
    ['no start', aSession({ started: undefined }), 'bad_started'],
    ['an invalid start', aSession({ started: 'yesterday' }), 'bad_started'],
  ])('with %s is invalid', (_what, raw, reason) => {
    expect(readSession(raw, context())).toEqual({ outcome: 'invalid', reason })
  })

  test.each([
    ['eu/staging', 'eu/staging'],
    ['a\nb', ''],
    ['None', ''],
    ['', 'production'],
  ])('environment %j counts as %j', (environment, counted) => {
    const raw = aSession({ attrs: { release: '@acme/web@1.2.3', environment } })
    expect(readSession(raw, context())).toMatchObject({
      attributes: { release: '@acme/web@1.2.3', environment: counted },
    })
  })

  test('names are scrubbed as in events', () => {
    const raw = aSession({ attrs: { release: 'shop 4111 1111 1111 1111', environment: 'ada@example.com' } })
    expect(readSession(raw, context({ scrubbing: { removeEmails: true } }))).toMatchObject({
      attributes: { release: 'shop [Filtered]', environment: '[Filtered]' },
    })
  })

  test('system and device are from the user agent of the session or request', () => {
    const iphone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1'
    const own = aSession({ attrs: { release: 'a', user_agent: iphone } })
    const expected = { attributes: { os: 'iOS', device: 'iPhone' } }
    expect(readSession(own, context({ userAgent: 'sentry.java/8' }))).toMatchObject(expected)
    expect(readSession(aSession(), context({ userAgent: iphone }))).toMatchObject(expected)
    expect(readSession(aSession(), context({ userAgent: 'sentry.cocoa/9.0.0' }))).toMatchObject({
      attributes: { os: null, device: null },
    })
  })
})

describe('the time of a session', () => {
  const at = (text: string): number => Date.parse(text)

  test.each([
    ['its own', {}, '2026-11-20T11:55:00Z'],
    ['start and duration without one', { timestamp: undefined, duration: 3 }, '2026-11-20T11:50:03Z'],
    ['its receipt without either', { timestamp: undefined }, '2026-11-20T12:00:00Z'],
    ['its start if it lies before', { timestamp: '2026-11-20T11:00:00Z' }, '2026-11-20T11:50:00Z'],
  ])('of the update is %s', (_what, fields, expected) => {
    expect(readSession(aSession(fields), context())).toMatchObject({ timestamp: at(expected) })
  })

  test('of the update is the time of sending without other times', () => {
    const read = readSession(aSession({ timestamp: undefined }), context({ sentAt: new Date('2026-11-20T11:58:00Z') }))
    expect(read).toMatchObject({ timestamp: at('2026-11-20T11:58:00Z') })
  })

  test('is corrected for a clock that is off by 55 minutes or more', () => {
    const off = (ms: number) => context({ sentAt: new Date(RECEIVED.getTime() - ms) })
    const dayOff = aSession({ started: '2026-11-19T11:50:00Z', timestamp: '2026-11-19T11:55:00Z' })
    expect(readSession(dayOff, off(DAY_MS))).toMatchObject({
      startedAt: at('2026-11-20T11:50:00Z'),
      timestamp: at('2026-11-20T11:55:00Z'),
    })
    expect(readSession(aSession(), off(55 * 60_000 - 1))).toMatchObject({ startedAt: at('2026-11-20T11:50:00Z') })
    expect(readSession(aSession(), off(55 * 60_000))).toEqual({ outcome: 'discarded', reason: 'in_future' })
  })

  test.each([
    ['5 days ago', '2026-11-15T12:00:00.000Z', null],
    ['longer ago', '2026-11-15T11:59:59.999Z', 'too_old'],
    ['in 1970', 0, 'too_old'],
    ['60 seconds ahead', '2026-11-20T12:01:00.000Z', null],
    ['further ahead', '2026-11-20T12:01:00.001Z', 'in_future'],
    ['in 9999', '9999-12-31T23:59:59Z', 'in_future'],
  ])('is accepted or refused when it started %s', (_when, started, reason) => {
    const read = readSession(aSession({ started, timestamp: undefined, duration: 0 }), context())
    if (reason === null) expect(read).not.toHaveProperty('outcome')
    else expect(read).toEqual({ outcome: 'discarded', reason })
  })

  test('a session with an update in the future is refused', () => {
    const read = readSession(aSession({ timestamp: '2026-11-20T12:02:00Z' }), context())
    expect(read).toEqual({ outcome: 'discarded', reason: 'in_future' })
  })
})

describe('counts of sessions', () => {
  const started = '2026-11-20T11:50:00.000Z'
  const read = (aggregates: unknown, attrs: unknown = { release: 'a' }) =>
    readSessions({ aggregates, attrs }, context())

  test('are read, with 0 for missing ones', () => {
    expect(
      read([
        { started, exited: 3, errored: 1, crashed: 1, did: 'ada' },
        { started, unhandled: 2 },
      ]),
    ).toEqual({
      attributes: { release: 'a', environment: 'production', os: null, device: null },
      counts: [
        { startedAt: Date.parse(started), did: 'ada', exited: 3, errored: 1, crashed: 1, abnormal: 0, unhandled: 0 },
        { startedAt: Date.parse(started), did: null, exited: 0, errored: 0, crashed: 0, abnormal: 0, unhandled: 2 },
      ],
    })
  })

  test('that are negative or no numbers have no effect', () => {
    const entry = { started, exited: -5, errored: Number.NaN, crashed: 'x', abnormal: null, unhandled: 1.5 }
    expect(read([entry])).toMatchObject({
      counts: [{ exited: 0, errored: 0, crashed: 0, abnormal: 0, unhandled: 1 }],
    })
  })

  test('that are too large leave out their entry; others count', () => {
    const million = { started, exited: 1_000_000 }
    expect(read([{ started, exited: 5, crashed: 1e308 }, million])).toMatchObject({ counts: [{ exited: 1_000_000 }] })
    expect(read([{ started, exited: 1_000_001 }])).toEqual({ outcome: 'invalid', reason: 'too_many_sessions' })
  })

  test('outside the accepted time are left out; others count', () => {
    const old = { started: '2026-11-01T00:00:00Z', exited: 1 }
    expect(read([old, 7, { started: 'x' }, { started, exited: 1 }])).toMatchObject({ counts: [{ exited: 1 }] })
    expect(read([old])).toEqual({ outcome: 'discarded', reason: 'too_old' })
  })

  test.each([
    ['no list', {}, 'no_aggregates'],
    ['an empty list', [], 'no_counts'],
    ['nothing counted', [{ started, exited: 0 }], 'no_counts'],
    ['no time', [{ exited: 1 }], 'bad_started'],
  ])('with %s are invalid', (_what, aggregates, reason) => {
    expect(read(aggregates)).toEqual({ outcome: 'invalid', reason })
  })

  test('need a release', () => {
    expect(read([{ started, exited: 1 }], {})).toEqual({ outcome: 'invalid', reason: 'no_release' })
  })
})

test('reading never throws', () => {
  const field = fc.oneof(fc.jsonValue(), fc.constantFrom(SID, '2026-11-20T11:50:00Z', 'crashed', 1e308, -0, '\0\ud800'))
  const raw = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        sid: fc.oneof(field, fc.constant(SID)),
        did: field,
        status: fc.oneof(field, fc.constant('ok')),
        errors: field,
        started: fc.oneof(field, fc.constant('2026-11-20T11:50:00Z')),
        timestamp: field,
        duration: field,
        abnormal_mechanism: field,
        attrs: fc.oneof(field, fc.record({ release: field, environment: field, user_agent: field })),
        aggregates: fc.oneof(field, fc.array(fc.record({ started: field, exited: field, did: field }))),
      },
      { requiredKeys: [] },
    ),
  )
  const sentAt = fc.option(fc.date({ min: new Date(0), max: new Date('2999-01-01'), noInvalidDate: true }))
  fc.assert(
    fc.property(raw, sentAt, (value, sent) => {
      readSession(value, context({ sentAt: sent }))
      readSessions(value, context({ sentAt: sent }))
    }),
    { numRuns: 500 },
  )
})
