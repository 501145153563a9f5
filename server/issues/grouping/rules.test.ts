import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { groupingSettings } from './grouping-settings.ts'
import { GroupingRules, LATEST_GROUPING_VERSION } from './grouping-rules.api.ts'
import { errorOf, eventOf } from './event.fixture.ts'
import { compileGrouping, fingerprint, markFrames, type Grouped } from './grouping.ts'

/** Compiled rules of a project: their matches, results and cost. */

const NOW = new Date('2026-11-20T05:00:00Z')
const settingsOf = (rules: unknown) => ({
  ...groupingSettings({ grouping_version: LATEST_GROUPING_VERSION }),
  grouping_rules: GroupingRules.parse({ fingerprint: [], stack: [], ...(rules as object) }),
})
const group = (rules: unknown, event: ReturnType<typeof eventOf>): Grouped =>
  compileGrouping(settingsOf(rules))(event, NOW)
const matches = (match: unknown, event: ReturnType<typeof eventOf>): boolean =>
  group({ fingerprint: [{ match, fingerprint: ['x'] }] }, event).rules.fingerprint !== null

const event = errorOf(
  'node',
  'PaymentError',
  [
    { function: 'main', module: 'app.start', filename: '/srv/app/start.js', in_app: true },
    { function: 'pay', module: 'app.cart', filename: 'cart.js', abs_path: '/srv/app/cart.js', in_app: true },
  ],
  {
    level: 'warning',
    release: 'shop@1.2.3',
    tags: { shop: 'x-17', 'a.b': 'c' },
    logentry: { message: 'of %s', params: ['ada'] },
  },
)

describe('matchers', () => {
  test.each([
    ['type', 'payment*', true],
    ['type', 'payment', false],
    ['value', '*BROKE*', true],
    ['message', 'of ada', true],
    ['message', 'of %s', true],
    ['level', 'warning', true],
    ['release', 'shop@1.*', true],
    ['release', '1.*', false],
    ['tag.shop', 'x-*', true],
    ['tag.a.b', 'c', true],
    ['tag.none', '*', false],
    ['function', 'pay', true],
    ['module', 'app.*', true],
    ['path', '/srv/app/cart.js', true],
    ['path', 'cart.js', true],
    ['package', '*', false],
  ])('%s:%s is %s', (key, glob, expected) => {
    expect(
      matches(
        [
          { key, glob },
          { key: 'level', glob: 'w*' },
        ],
        event,
      ),
    ).toBe(expected)
    expect(matches([{ key, glob, not: true }], event)).toBe(!expected)
  })

  test('ignore case, in any script', () => {
    const said = (value: string, glob: string): boolean =>
      matches([{ key: 'value', glob }], eventOf({ exception: { values: [{ type: 'E', value }] } }))
    expect(said('İstanbul', 'İSTANBUL')).toBe(true)
    expect(said('İstanbul', 'İ*ul')).toBe(true)
    expect(said('ÜBERLAUF', 'überlauf')).toBe(true)
    expect(said('Ошибка 7', 'ОШИБКА *')).toBe(true)
    expect(said('💥 boom', '💥*')).toBe(true)
    expect(said('a', 'ab')).toBe(false)
  })

  test('a star matches any existing value', () => {
    const shops = {
      fingerprint: [{ match: [{ key: 'tag.shop', glob: '*' }], fingerprint: ['{{ default }}', '{{ tag.shop }}'] }],
    }
    const of = (tags: object) =>
      group(shops, errorOf('node', 'E', [{ function: 'a', module: 'm' }], { tags })).fingerprint.hash
    expect(of({ shop: 'a' })).not.toEqual(of({ shop: 'b' }))
    expect(of({ shop: 'a' })).toEqual(of({ shop: 'a', other: 'x' }))
    const wide = (fingerprint: string[]) =>
      GroupingRules.safeParse({ fingerprint: [{ match: [{ key: 'type', glob: '*' }], fingerprint }], stack: [] })
    expect(wide(['one']).error?.issues[0]).toMatchObject({
      path: ['fingerprint', 0, 'fingerprint'],
      message: expect.stringContaining('only *') as string,
    })
    expect(wide(['{{ environment }}']).success).toBe(true)
  })

  test('those of a frame must match one frame, those of an error one exception', () => {
    expect(
      matches(
        [
          { key: 'module', glob: 'app.cart' },
          { key: 'function', glob: 'pay' },
        ],
        event,
      ),
    ).toBe(true)
    expect(
      matches(
        [
          { key: 'module', glob: 'app.start' },
          { key: 'function', glob: 'pay' },
        ],
        event,
      ),
    ).toBe(false)
    const chain = eventOf({
      exception: {
        values: [
          { type: 'A', value: 'one' },
          { type: 'B', value: 'two' },
        ],
      },
    })
    expect(
      matches(
        [
          { key: 'type', glob: 'A' },
          { key: 'value', glob: 'one' },
        ],
        chain,
      ),
    ).toBe(true)
    expect(
      matches(
        [
          { key: 'type', glob: 'A' },
          { key: 'value', glob: 'two' },
        ],
        chain,
      ),
    ).toBe(false)
    expect(
      matches(
        [
          { key: 'type', glob: 'A' },
          { key: 'value', glob: 'two', not: true },
        ],
        chain,
      ),
    ).toBe(false)
  })

  test('match frames of the crashed thread when no exception has frames', () => {
    const crash = eventOf({
      platform: 'native',
      threads: [{ id: 1, crashed: true, stacktrace: { frames: [{ function: 'tick' }] } }],
    })
    expect(matches([{ key: 'function', glob: 'tick' }], crash)).toBe(true)
  })

  test('no glob causes backtracking', () => {
    const long = eventOf({ message: 'a'.repeat(8_000) })
    const rules = {
      fingerprint: Array.from({ length: 100 }, () => ({
        match: [{ key: 'message', glob: `${'*a'.repeat(99)}*b` }],
        fingerprint: ['x'],
      })),
    }
    const grouping = compileGrouping(settingsOf(rules))
    grouping(long, NOW)
    const started = cpuMs()
    expect(grouping(long, NOW).rules.fingerprint).toBeNull()
    expect(cpuMs() - started).toBeLessThan(250)
  })
})

describe('fingerprints', () => {
  const parts = (rules: unknown) => group(rules, event).fingerprint.parts
  const match = [{ key: 'type', glob: 'PaymentError' }]

  test('contain the values of variables, and a placeholder for missing ones', () => {
    const names = [
      'type',
      'value',
      'message',
      'module',
      'function',
      'level',
      'release',
      'platform',
      'transaction',
      'tag.shop',
    ]
    const [part] = parts({ fingerprint: [{ match, fingerprint: [names.map((name) => `{{${name}}}`).join(' ')] }] })
    expect(part?.values[0]?.value).toBe(
      'PaymentError it broke of %s app.cart pay warning shop@1.2.3 node <no transaction> x-17',
    )
  })

  test('values and messages in them lose the parts that change with each event', () => {
    const of = (value: string) =>
      group(
        {
          fingerprint: [
            { match: [{ key: 'type', glob: 'E' }], fingerprint: ['{{ value }}'], title: '{{ type }}: {{ value }}' },
          ],
        },
        eventOf({ exception: { values: [{ type: 'E', value }] } }),
      )
    expect(of('order 12').fingerprint.hash).toEqual(of('order 99').fingerprint.hash)
    expect(of('order 12').title).toBe('E: order 12')
  })

  test('{{ default }} adds the fingerprint without rules', () => {
    const plain = fingerprint(event).parts
    expect(parts({ fingerprint: [{ match, fingerprint: ['{{ default }}', 'eu'] }] }).slice(0, 2)).toEqual([
      {
        variant: 'project_rule',
        values: [
          { label: 'default', value: '{{ default }}' },
          { label: 'fingerprint', value: 'eu' },
        ],
      },
      ...plain,
    ])
  })

  test('a tag with the value {{ default }} is a text', () => {
    const tagged = eventOf({ message: 'm', tags: { t: '{{ default }}' } })
    const said = group(
      { fingerprint: [{ match: [{ key: 'message', glob: 'm' }], fingerprint: ['{{ tag.t }}'] }] },
      tagged,
    )
    expect(said.fingerprint.parts[0]).toEqual({
      variant: 'project_rule',
      values: [{ label: 'fingerprint', value: '{{ default }}' }],
    })
  })

  test('the first rule that matches applies; the fingerprint of the SDK takes precedence', () => {
    const rules = {
      fingerprint: [
        { match, fingerprint: ['one'] },
        { match, fingerprint: ['two'] },
      ],
    }
    expect(group(rules, event).fingerprint.parts[0]?.values).toEqual([{ label: 'fingerprint', value: 'one' }])
    const given = { ...event, fingerprint: ['sdk'] }
    expect(group(rules, given).fingerprint.hash).toEqual(fingerprint(given).hash)
    expect(group(rules, given).rules.fingerprint).toBeNull()
  })
})

describe('stack rules', () => {
  const inCart = [{ key: 'module', glob: 'app.cart' }]

  test('mark frames, and the culprit changes accordingly', () => {
    const said = group({ stack: [{ match: inCart, action: 'not_in_app' }] }, event)
    expect(said.event.exceptions[0]?.stacktrace?.frames.map((frame) => frame.in_app)).toEqual([true, false])
    expect(event.culprit).toContain('pay')
    expect(said.event.culprit).toContain('main')
    expect(said.fingerprint.hash).not.toEqual(fingerprint(event).hash)
    const none = markFrames(
      event,
      settingsOf({ stack: [{ match: [{ key: 'module', glob: 'elsewhere' }], action: 'ignore' }] }).grouping_rules,
    )
    expect(none).toBe(event)
  })

  test('mark frames that the SDK may not: a package of the app in node_modules', () => {
    const shared = errorOf('javascript', 'E', [
      { function: 'pay', filename: '/srv/src/pay.js', in_app: true },
      { function: 'sum', filename: '/srv/node_modules/@acme/money/sum.js', in_app: true },
    ])
    const rule = { match: [{ key: 'path', glob: '*/node_modules/@acme/*' }], action: 'in_app' }
    expect(shared.culprit).toContain('pay')
    expect(group({ stack: [rule] }, shared).event.culprit).toContain('sum')
    expect(group({ stack: [rule] }, shared).fingerprint.hash).not.toEqual(fingerprint(shared).hash)
  })

  test('one that matches every frame applies to frames without another match', () => {
    const only = {
      stack: [
        { match: inCart, action: 'in_app' },
        { match: [{ key: 'module', glob: '*' }], action: 'not_in_app' },
      ],
    }
    expect(group(only, event).fingerprint.parts[0]?.values.map(({ value }) => value)).toEqual(['PaymentError', 'pay'])
  })

  test('ignore frames in grouping and still show them', () => {
    const said = group({ stack: [{ match: inCart, action: 'ignore' }] }, event)
    expect(said.event.exceptions[0]?.stacktrace?.frames).toHaveLength(2)
    expect(said.fingerprint.parts[0]?.values.map(({ value }) => value)).toEqual(['PaymentError', 'it broke', 'main'])
    const nothingLeft = group({ stack: [{ match: [{ key: 'module', glob: 'app.*' }], action: 'ignore' }] }, event)
    expect(nothingLeft.fingerprint.parts[0]?.variant).toBe('type_value')
  })

  test('the first that matches applies, and one that changes nothing is not named', () => {
    const stack = [
      { match: inCart, action: 'in_app' },
      { match: inCart, action: 'not_in_app' },
    ]
    const said = group({ stack }, event)
    expect(said.rules.stack).toEqual([])
    expect(said.fingerprint).toEqual(fingerprint(event))
  })
})

describe('without rules', () => {
  test('events are not copied, and the hash is that of the version', () => {
    const said = group({}, event)
    expect(said.event).toBe(event)
    expect(said.fingerprint).toEqual(fingerprint(event))
    expect(said.former).toBeNull()
  })

  test('an unknown version still groups', () => {
    const grouping = compileGrouping({ ...groupingSettings({ grouping_version: 77 }) })
    expect(grouping(event, NOW).fingerprint).toEqual(fingerprint(event))
  })
})

test('rules never throw and are deterministic, for any event', () => {
  const rules = {
    fingerprint: [
      { match: [{ key: 'message', glob: '*a*' }], fingerprint: ['{{ message }}', '{{ tag.a }}'], title: '{{ type }}' },
      { match: [{ key: 'function', glob: 'x', not: true }], fingerprint: ['{{ default }}', '{{ function }}'] },
    ],
    stack: [
      { match: [{ key: 'path', glob: '*a' }], action: 'ignore' },
      {
        match: [
          { key: 'function', glob: '*' },
          { key: 'module', glob: 'a*' },
        ],
        action: 'in_app',
      },
    ],
  }
  const grouping = compileGrouping(settingsOf(rules))
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom('exception', 'threads', 'message', 'logentry', 'fingerprint', 'tags', 'stacktrace', 'platform'),
        fc.jsonValue(),
      ),
      (raw) => {
        const one = grouping(eventOf(raw), NOW)
        expect(one.fingerprint.hash).toHaveLength(32)
        expect(grouping(eventOf(raw), NOW).fingerprint).toEqual(one.fingerprint)
      },
    ),
    { numRuns: 300 },
  )
})
