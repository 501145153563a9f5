import { describe, expect, test } from 'vitest'
import { readEvent } from './read-event.ts'
import { nextCursor, type SourceRule } from './source.ts'
import { mapRule } from './take-rules.ts'

const parsed = (event: unknown): unknown => JSON.parse(readEvent(event)?.body.toString() ?? '{}')

const FRAME = {
  filename: 'cart.js',
  absPath: 'https://shop.example/cart.js',
  function: 'pay',
  lineNo: 2,
  colNo: 9,
  inApp: true,
  context: [
    [1, 'const a = 1'],
    [2, 'pay(a)'],
    [3, ''],
  ],
}
const EVENT = {
  eventID: 'A1B2C3D4A1B2C3D4A1B2C3D4A1B2C3D4',
  dateCreated: '2026-01-02T03:04:05.678Z',
  dateReceived: '2026-01-02T03:04:06Z',
  platform: 'javascript',
  tags: [
    { key: 'release', value: '4.11.0' },
    { key: 'environment', value: 'staging' },
    { key: 'plan', value: 'gold' },
  ],
  entries: [
    {
      type: 'exception',
      data: { values: [{ type: 'TypeError', value: 'no', threadId: 5, stacktrace: { frames: [FRAME] } }] },
    },
    { type: 'unheard-of', data: 5 },
  ],
}

describe('an event of the web API', () => {
  test('becomes the event that the SDK sent', () => {
    expect(parsed(EVENT)).toMatchObject({
      event_id: 'a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4',
      timestamp: '2026-01-02T03:04:05.678Z',
      release: '4.11.0',
      environment: 'staging',
      tags: { plan: 'gold' },
      exception: {
        values: [
          {
            type: 'TypeError',
            thread_id: 5,
            stacktrace: {
              frames: [
                {
                  lineno: 2,
                  colno: 9,
                  in_app: true,
                  pre_context: ['const a = 1'],
                  context_line: 'pay(a)',
                  post_context: [''],
                },
              ],
            },
          },
        ],
      },
    })
    expect(readEvent(EVENT)?.receivedAtMs).toBe(Date.parse('2026-01-02T03:04:06Z'))
  })

  test.each([
    ['nothing', null],
    ['no id', { ...EVENT, eventID: undefined }],
    ['an id of another form', { ...EVENT, eventID: 'abc' }],
    ['no time', { ...EVENT, dateCreated: null, dateReceived: null }],
    ['a list', []],
  ])('with %s is none', (_, event) => expect(readEvent(event)).toBeNull())

  test('with parts of another shape keeps the others', () => {
    const odd = {
      ...EVENT,
      tags: 'x',
      contexts: [],
      entries: [{ type: 'exception', data: { values: [7, { type: 'E' }] } }, 'no'],
    }
    expect(parsed(odd)).toMatchObject({ event_id: 'a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4' })
    expect(parsed({ ...odd, entries: odd.entries.slice(0, 1) })).toMatchObject({
      exception: { values: [{ type: 'E' }] },
    })
  })

  test('has the title when it has neither message nor exception', () => {
    expect(parsed({ ...EVENT, entries: [], message: '', title: 'Task failed' })).toMatchObject({
      logentry: { formatted: 'Task failed' },
    })
  })
})

test.each([
  ['<https://s/api/?cursor=1:100:0>; rel="next"; results="true"; cursor="1:100:0"', '1:100:0'],
  [
    '<https://s/>; rel="previous"; results="false"; cursor="a", <https://s/>; rel="next"; results="false"; cursor="b"',
    null,
  ],
  ['<https://s/api/?cursor=cD0%3D>; rel="next"', 'cD0='],
  [undefined, null],
])('the next page of %s', (link, cursor) => expect(nextCursor(link)).toBe(cursor))

describe('a rule of the source', () => {
  const rule = (more: Partial<SourceRule>): SourceRule => ({
    id: '1',
    name: 'Busy',
    environment: null,
    frequency: 30,
    conditions: [],
    filters: [],
    actions: [],
    ...more,
  })

  test('with two conditions becomes two, both off', () => {
    const { rules, differences } = mapRule(
      rule({
        conditions: [
          { id: 'sentry.rules.conditions.regression_event.RegressionEventCondition' },
          { id: 'sentry.rules.conditions.event_frequency.EventFrequencyCondition', value: 50, interval: '1h' },
        ],
      }),
      'p',
    )
    expect(rules).toMatchObject([
      { name: 'Busy (1)', trigger_type: 'issue_regression', enabled: false },
      {
        name: 'Busy (2)',
        trigger_type: 'issue_spike',
        enabled: false,
        conditions: { threshold: 50, window_minutes: 60 },
      },
    ])
    expect(differences).toEqual([])
  })

  test('that nothing here can express leaves a line for each part', () => {
    const { rules, differences } = mapRule(
      rule({ conditions: [{ id: 'x.EveryEventCondition' }], actions: [{ id: 'x.SlackNotifyServiceAction' }] }),
      'p',
    )
    expect(rules).toEqual([])
    expect(differences.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('SlackNotifyServiceAction'),
      expect.stringContaining('EveryEventCondition'),
    ])
  })
})
