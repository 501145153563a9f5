import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonValue } from './json.ts'
import { checkJson, countPairs, MOST_NODES, parseGuarded, parseJson, scanJson, topLevelString } from './json-guard.ts'

const bytes = (text: string) => Buffer.from(text)

function depthAndNodes(value: JsonValue): { depth: number; nodes: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, nodes: 1 }
  let depth = 0
  let nodes = 1
  for (const child of Object.values(value)) {
    const inner = depthAndNodes(child)
    depth = Math.max(depth, inner.depth)
    nodes += inner.nodes
  }
  return { depth: depth + 1, nodes }
}

describe('checkJson', () => {
  test('64 levels pass, 65 do not, nor a million', () => {
    expect(checkJson(bytes('['.repeat(64) + ']'.repeat(64)))).toBeNull()
    expect(checkJson(bytes('['.repeat(65) + ']'.repeat(65)))).toContain('64 levels')
    expect(checkJson(bytes('{"a":'.repeat(1_000_000)))).toContain('64 levels')
  })

  test('brackets and quotes inside strings do not count', () => {
    expect(checkJson(bytes(JSON.stringify({ a: `${'[{"\\'.repeat(500)}` })))).toBeNull()
    expect(checkJson(bytes(JSON.stringify(['\\'.repeat(99), '"'.repeat(99), '[', '\\"'])))).toBeNull()
  })

  test('exactly 100,000 values pass, one more does not', () => {
    const list = (length: number) => bytes(JSON.stringify(Array.from({ length }, () => 1)))
    expect(checkJson(list(MOST_NODES - 1))).toBeNull()
    expect(checkJson(list(MOST_NODES))).toContain('100,000 values')
    // Empty containers count once.
    expect(checkJson(bytes(JSON.stringify(Array.from({ length: MOST_NODES - 1 }, () => []))))).toBeNull()
    expect(
      checkJson(bytes(JSON.stringify(Array.from({ length: MOST_NODES - 1 }, () => ({}))).replaceAll('{}', '{ }'))),
    ).toBeNull()
  })

  test('counts pairs and judges depth as a parsed value has them', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const parsed = parseJson(text)
        const { depth } = depthAndNodes(parsed)
        const scan = scanJson(bytes(text))
        expect(scan.problem === null).toBe(depth <= 64)
        expect(scan.pairs).toBe(countPairs(parsed))
      }),
    )
  })
})

describe('parseGuarded', () => {
  test('drops the keys of the object model at any depth, however they are spelled', () => {
    const text =
      '{"__proto__":{"polluted":1},"a":[{"constructor":{"prototype":{"polluted":1}},"b":1}],"\\u005f_proto__":2,"c":"__proto__"}'
    const { value, dropped, pairs } = parseGuarded(bytes(text))
    expect(value).toEqual({ a: [{ b: 1 }], c: '__proto__' })
    // Two spellings of one key are one key by the time the text is parsed.
    expect(dropped).toBe(2)
    expect(pairs).toBe(9)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('tells repeated keys by the number of pairs', () => {
    const { value, pairs } = parseGuarded(bytes('{"password":"secret","password":"[Filtered]","x":{"y":1}}'))
    expect(pairs).toBe(4)
    expect(countPairs(value)).toBe(3)
  })

  test.each(['', '{', '{"a":}', 'nope', '{"a":1}x', '\u0000', '['.repeat(1_000_000), '{"a":'.repeat(100_000)])(
    'refuses broken text with a reason',
    (text) => {
      expect(() => parseGuarded(bytes(text))).toThrow(expect.objectContaining({ code: 'invalid' }))
    },
  )

  test('is JSON.parse for everything harmless', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        if (/__proto__|constructor|prototype/.test(text)) return
        expect(parseGuarded(bytes(text)).value).toEqual(JSON.parse(text))
      }),
    )
  })

  test('throws nothing but AppError on mutated text', () => {
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
