import { describe, expect, test } from 'vitest'
import { anrCause } from './anr.ts'
import { normalizeEvent } from './normalize.ts'

const CONTEXT = { eventId: 'a'.repeat(32), receivedAt: new Date('2026-11-20T12:00:00Z'), sentAt: null, clientIp: null }
const causeOf = (raw: Record<string, unknown>) => anrCause(normalizeEvent(raw, { ...CONTEXT, userAgent: null }))

type Line = readonly [module: string | null, name: string | null, inApp: boolean]
const stackOf = (lines: readonly Line[]) => ({
  frames: lines.map(([module, name, in_app]) => ({ module, function: name, in_app })),
})
const anr = (lines: readonly Line[], value = 'Application Not Responding for at least 5000 ms.') => ({
  platform: 'java',
  exception: {
    values: [{ type: 'ApplicationNotResponding', value, mechanism: { type: 'ANR' }, stacktrace: stackOf(lines) }],
  },
})

const MAIN: Line = ['android.os.Looper', 'loop', false]
const SAVE: Line = ['com.acme.shop.SessionStore', 'save', true]
const COMMIT: Line = ['android.app.SharedPreferencesImpl$EditorImpl', 'commit', false]
const WAIT: Line = ['java.lang.Object', 'wait', false]

describe('the blocking call', () => {
  test.each<[string, readonly Line[], string]>([
    [
      'is what the app called, and where',
      [MAIN, SAVE, COMMIT, WAIT],
      'SharedPreferencesImpl.commit in SessionStore.save',
    ],
    ['is the innermost frame of the app itself', [MAIN, COMMIT, SAVE], 'SessionStore.save'],
    ['without the app is the innermost frame', [MAIN, COMMIT, WAIT], 'Object.wait'],
    [
      'skips outer frames of the app',
      [SAVE, MAIN, ['com.acme.Cart$load$1', 'invoke', true], WAIT],
      'Object.wait in Cart.invoke',
    ],
    ['without names is unknown', [[null, null, true]], '<unknown>'],
    ['without frames is unknown', [], '<unknown>'],
  ])('%s', (_what, lines, call) => {
    expect(causeOf(anr(lines))?.call).toBe(call)
  })

  test('comes from the main thread when the exception has no stack', () => {
    const raw = {
      platform: 'java',
      exception: { values: [{ type: 'ANR', mechanism: { type: 'AppExitInfo' } }] },
      threads: {
        values: [
          { id: 2, stacktrace: stackOf([WAIT]) },
          { id: 1, main: true, stacktrace: stackOf([MAIN, SAVE, COMMIT]) },
        ],
      },
    }
    expect(causeOf(raw)).toEqual({ call: 'SharedPreferencesImpl.commit in SessionStore.save', waitMs: null })
  })

  test('has at most 200 characters', () => {
    expect(causeOf(anr([['a.B', 'x'.repeat(900), true]]))?.call.length).toBeLessThanOrEqual(200)
  })
})

test.each([
  ['Application Not Responding for at least 5000 ms.', 5_000],
  ['App hanging for at least 2000 ms.', 2_000],
  ['App hanging between 2.0 and 2.5 seconds.', 2_500],
  ['Blocked for at least 1e9 ms', null],
  ['at least 99999999999999999999 s', null],
  ['at least 0 ms', null],
  ['Input dispatching timed out', null],
])('%s', (value, waitMs) => {
  expect(causeOf(anr([SAVE], value))?.waitMs).toBe(waitMs)
})

test('other events have none', () => {
  const raw = { exception: { values: [{ type: 'Error', value: 'at least 5 s', stacktrace: stackOf([SAVE]) }] } }
  expect(causeOf(raw)).toBeNull()
})
