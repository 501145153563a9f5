import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type JsonValue, losesDigits } from './json.ts'
import { checkJson, MAX_NODES, parseGuarded, parseJson, scanJson, topLevelString } from './json-guard.ts'

const bytes = (text: string) => Buffer.from(text)

function depthAndPairs(value: JsonValue): { depth: number; pairs: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, pairs: 0 }
  const inner = Object.values(value).map(depthAndPairs)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    pairs: inner.reduce((sum, { pairs }) => sum + pairs, Array.isArray(value) ? 0 : inner.length),
  }
}

describe('checkJson', () => {
  test('64 levels pass, 65 do not, nor a million', () => {
    expect(checkJson('['.repeat(64) + ']'.repeat(64))).toBeNull()
    expect(checkJson('['.repeat(65) + ']'.repeat(65))).toContain('64 levels')
    expect(checkJson('{"a":'.repeat(1_000_000))).toContain('64 levels')
  })

  test('ignores brackets and quotes inside strings', () => {
    expect(checkJson(JSON.stringify({ a: `${'[{"\\'.repeat(500)}` }))).toBeNull()
    expect(checkJson(JSON.stringify(['\\'.repeat(99), '"'.repeat(99), '[', '\\"']))).toBeNull()
  })

  test('exactly 100,000 values pass, one more does not', () => {
    const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1))
    expect(checkJson(list(MAX_NODES - 1))).toBeNull()
    expect(checkJson(list(MAX_NODES))).toContain('100,000 values')
    // Empty containers count once.
    expect(checkJson(JSON.stringify(Array.from({ length: MAX_NODES - 1 }, () => [])))).toBeNull()
    expect(
      checkJson(JSON.stringify(Array.from({ length: MAX_NODES - 1 }, () => ({}))).replaceAll('{}', '{ }')),
    ).toBeNull()
  })

  test('counts pairs and depth like a parsed value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const parsed = parseJson(text)
        const { depth, pairs } = depthAndPairs(parsed)
        const scan = scanJson(text)
        expect(scan.problem === null).toBe(depth <= 64)
        expect(scan.pairs).toBe(pairs)
      }),
    )
  })
})

describe('parseGuarded', () => {
  test('drops the keys of the object model at any depth, also with escapes', () => {
    const text =
      '{"__proto__":{"polluted":1},"a":[{"constructor":{"prototype":{"polluted":1}},"b":1}],"\\u005f_proto__":2,"c":"__proto__"}'
    const { value, dropped, isExact } = parseGuarded(bytes(text))
    expect(value).toEqual({ a: [{ b: 1 }], c: '__proto__' })
    // Parsing makes two spellings of a key the same key.
    expect(dropped).toBe(2)
    expect(isExact).toBe(false)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('reports when the text contains more than the value', () => {
    const isExact = (text: string) => parseGuarded(bytes(text)).isExact
    expect(isExact('{"password":"secret","password":"[Filtered]","x":{"y":1}}')).toBe(false)
    expect(isExact('{"x":[{"a":{"b":1,"\\u0062":2}}]}')).toBe(false)
    expect(isExact('{"a":{"a":{"a":":"}},"b":[{"a":1},{"a":1}]}')).toBe(true)
  })

  test('finds repeated keys whatever stands in strings and around colons', () => {
    const text = fc.string({ unit: fc.constantFrom(':', '"', '\\', ' ', 'a', '\n', ',') })
    const space = fc.constantFrom('', '', '', ' ', '\t', '\n')
    const { node } = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        text.map((one) => JSON.stringify(one)),
        fc.array(tie('node'), { maxLength: 3 }).map((all) => `[${all.join(',')}]`),
        fc
          .array(fc.tuple(fc.oneof(fc.constant('a'), text), space, space, tie('node')), { maxLength: 4 })
          .map((all) => all.map(([key, a, b, value]) => `${JSON.stringify(key)}${a}:${b}${value}`))
          .map((all) => `{${all.join(',')}}`),
      ),
    }))
    fc.assert(
      fc.property(node, (json) => {
        const isExact = scanJson(json).pairs === depthAndPairs(parseJson(json)).pairs
        expect(parseGuarded(bytes(json)).isExact).toBe(isExact)
      }),
      { numRuns: 2_000 },
    )
  })

  test('refuses what is nested too deeply, also below dropped keys and repeated ones, and in broken text', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(parseGuarded(bytes(nested(64))).isExact).toBe(true)
    for (const text of [
      nested(65),
      `{"a":${nested(64)}}`,
      `{"__proto__":${nested(64)}}`,
      `{"a":${nested(64)},"a":1}`,
      '['.repeat(65),
    ])
      expect(() => parseGuarded(bytes(text))).toThrow(expect.objectContaining({ word: 'too_deep' }))
    expect(() => parseGuarded(bytes(JSON.stringify([1, 2, 3])), 0, undefined, 3)).toThrow(/more than 3 values/)
  })

  test.each(['', '{', '{"a":}', 'nope', '{"a":1}x', '\u0000', '['.repeat(1_000_000), '{"a":'.repeat(100_000)])(
    'refuses broken text with a reason',
    (text) => {
      expect(() => parseGuarded(bytes(text))).toThrow(expect.objectContaining({ code: 'invalid' }))
    },
  )

  test('equals JSON.parse for other values, with long numbers as text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (given) => {
        const text = JSON.stringify(given)
        if (/__proto__|constructor|prototype/.test(text)) return
        const value = JSON.parse(text, (_key, one: unknown) =>
          typeof one === 'number' && losesDigits(String(one)) ? String(one) : one,
        ) as JsonValue
        expect({ ...parseGuarded(bytes(text)), longNumbers: null }).toEqual({
          value,
          dropped: 0,
          isExact: true,
          longNumbers: null,
        })
      }),
    )
  })

  test('throws only AppErrors for mutated text', () => {
    const seed = JSON.stringify({ event_id: 'abc', a: [1, 2.5e3, null, true, { 'b\\"': 'x\u2028"' }], c: { d: [] } })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(seed.length), fc.nat(255)), { maxLength: 6 }), (edits) => {
        const text = bytes(seed)
        for (const [at, byte] of edits) text[at] = byte
        try {
          parseGuarded(text)
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError', code: 'invalid' })
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('topLevelString', () => {
  test.each([
    ['{"event_id":"abc"}', 'abc'],
    ['{"a":{"event_id":"no"},"event_id" : "yes" }', 'yes'],
    ['{"event_id":"first","event_id":"last"}', 'last'],
    ['{"event_id":7}', null],
    ['{"event_id":"x","event_id":null}', null],
    ['{"x":"event_id","y":"event_id:"}', null],
    ['{"\\u0065vent_id":"escaped"}', 'escaped'],
    ['{"event_id":"a\\u0062c"}', 'abc'],
    ['[{"event_id":"no"}]', null],
    ['{"x":["event_id","no"],"z":{"event_id":"no"}}', null],
    ['{"event_id":', null],
    ['', null],
  ])('%s gives %s', (text, expected) => expect(topLevelString(bytes(text), 'event_id')).toBe(expected))

  test('agrees with JSON.parse', () => {
    const keys = fc.constantFrom('event_id', 'a', '"', '\\', 'event_idx')
    fc.assert(
      fc.property(fc.dictionary(keys, fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 3 }))), (value) => {
        const text = JSON.stringify(value)
        const expected = z.object({ event_id: z.unknown().optional() }).parse(parseJson(text)).event_id
        expect(topLevelString(bytes(text), 'event_id')).toBe(typeof expected === 'string' ? expected : null)
      }),
      { numRuns: 500 },
    )
  })
})
