import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '#server/platform/kernel/errors.ts'
import { parseQuery } from '#server/issues/search/parse-query.ts'
import { grouped, type Query } from '#server/issues/search/query.ts'
import {
  addTerm,
  isFinished,
  replaceBetween,
  setValues,
  splitQuery,
  requiredTerms,
  termText,
  toggleValue,
  requiredValues,
} from './query-terms.ts'

const BITS = (
  'is:resolved|level:[error, fatal]|release:1.*|"a b"|tag:"x \\" y"|first_seen:-2d|events:>=3|AND|OR|NOT|(|)|-|!|' +
  '[|]|,|"|*|:|\\|\\"| |  |\n|foo|ünï|漢字|😀|𠀀|release:|release:[|x.y:z|https://x.example/a|std::vector|TypeError: x'
).split('|')
const anyText = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.array(fc.constantFrom(...BITS), { maxLength: 25 }).map((bits) => bits.join('')),
  fc.array(fc.constantFrom(...BITS), { maxLength: 12 }).map((bits) => bits.join(' ')),
)

/** The tree without positions; undefined if the query is refused. */
function parsed(text: string): Query | null | undefined {
  try {
    const tree = JSON.stringify(parseQuery(text), (key, value: unknown) => (key === 'at' ? undefined : value))
    return JSON.parse(tree) as Query | null
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The parts that every match must satisfy, in an order of their own. */
const partsOf = (query: Query | null): string[] =>
  (query === null ? [] : query.kind === 'and' ? query.parts : [query]).map((part) => JSON.stringify(part)).toSorted()

const without = (parts: readonly string[], part: string): string[] => parts.toSpliced(parts.indexOf(part), 1)

describe('any text', () => {
  test('splits to pieces that join to it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const pieces = splitQuery(text)
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
        for (const { start, text: piece, term } of pieces) {
          expect(text.startsWith(piece, start) && piece !== '').toBe(true)
          if (term !== undefined) expect(text.slice(term.start, term.end)).toBe(term.text)
        }
      }),
    )
  })

  test('keeps every character but space when a term is added, set and removed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const added = addTerm(text, 'zz:1')
        expect(added.includes(text.trim())).toBe(true)
        // An unfinished query with an OR has no term that every match must satisfy.
        expect(requiredValues(added, ['zz'])).toEqual(isFinished(text) || requiredTerms(added).length > 0 ? ['1'] : [])
        fc.pre(requiredTerms(added).length > 0)
        const removed = setValues(added, ['zz'], [])
        expect([text.trim(), `(${text.trim()})`]).toContain(removed.trim())
      }),
    )
  })
})

describe('a query that parses', () => {
  const query = anyText.filter((text) => parsed(text) !== undefined)

  test('is matched by what an added term matches too', () => {
    const zz: Query = { kind: 'facet', key: 'zz', values: [{ text: '1', glob: false }] }
    fc.assert(
      fc.property(query, (text) => {
        fc.pre(isFinished(text))
        expect(parsed(addTerm(text, 'zz:1'))).toEqual(grouped('and', [parsed(text) ?? null, zz]))
      }),
    )
  })

  test('has the terms that the parser reads, and loses exactly the one that is removed', () => {
    let removed = 0
    fc.assert(
      fc.property(query, (text) => {
        const parts = partsOf(parsed(text) ?? null)
        for (const { start, end, text: written } of requiredTerms(text)) {
          const part = JSON.stringify(parsed(written))
          expect(parts).toContain(part)
          const rest = parsed(replaceBetween(text, start, end, ''))
          expect(rest).not.toBe(undefined)
          expect(partsOf(rest ?? null)).toEqual(without(parts, part))
          removed++
        }
      }),
      { numRuns: 2000 },
    )
    expect(removed).toBeGreaterThan(100)
  })

  test('reads printed values as they were given', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ minLength: 1, unit: 'binary' }).filter((value) => value.isWellFormed()),
          { minLength: 1, maxLength: 4 },
        ),
        fc.boolean(),
        (values, isNegated) => {
          const text = termText('zz', values, isNegated)
          const facet = {
            kind: 'facet',
            key: 'zz',
            values: [...new Set(values)].map((value) => ({ text: value, glob: false })),
          }
          expect(parsed(text)).toEqual(isNegated ? { kind: 'not', part: facet } : facet)
          expect(requiredTerms(text)[0]?.values.map((value) => value.text)).toEqual(values)
        },
      ),
    )
  })
})

describe('terms', () => {
  test.each<[string, string[]]>([
    ['checkout is:unresolved', ['is:unresolved']],
    ['level:[error, "a, b]", x*] -tag:"x \\" y" !os:iOS', ['level:[error, "a, b]", x*]', '-tag:"x \\" y"', '!os:iOS']],
    ['https://x.example/a std::vector TypeError: null', []],
    ['"is:unresolved" --release:1', []],
    ['(a:1 OR b:2) c:3 AND d:4', ['c:3', 'd:4']],
    ['a:1 OR b:2', []],
    ['NOT a:1 b:2', ['b:2']],
    ['first_seen:>"2026-11-01" events:>=5', ['first_seen:>"2026-11-01"', 'events:>=5']],
    ['a:1 release:"open b:2', ['a:1']],
    ['a:1 release:[x b:2', ['a:1']],
    ['release:', []],
  ])('of %s', (text, terms) => {
    expect(requiredTerms(text).map((term) => term.text)).toEqual(terms)
  })

  test.each([
    ['', 'env:a', 'env:a'],
    ['checkout ', 'env:a', 'checkout env:a'],
    ['a OR b', 'env:a', '(a OR b) env:a'],
    ['(a OR b)', 'env:a', '(a OR b) env:a'],
    ['release:"open ', 'env:a', 'env:a release:"open '],
    ['a AND (', 'env:a', 'env:a a AND ('],
    ['release:', 'env:a', 'env:a release:'],
  ])('%j and %s', (text, term, whole) => {
    expect(addTerm(text, term)).toBe(whole)
  })

  test.each([
    ['', [], ''],
    ['checkout', ['a b'], 'checkout env:"a b"'],
    ['env:a* x', ['a*', 'b'], 'env:[a*, b] x'],
    ['x Environment:a y env:b z', ['c'], 'x Environment:c y z'],
    ['x env:a AND y', [], 'x AND y'],
    ['env:a AND y', [], 'y'],
    ['x AND env:a', [], 'x'],
    ['-env:a', ['a'], '-env:a env:a'],
    ['env:a release:"open', [], 'release:"open'],
    ['x  env:a  ( y', ['b'], 'x  env:b  ( y'],
  ])('%j with the values %j of env', (text, values, whole) => {
    expect(setValues(text, ['env', 'environment'], values)).toBe(whole)
  })

  test('a value is added to the key and removed again', () => {
    const names = ['level']
    const one = toggleValue('checkout', names, 'error')
    const two = toggleValue(one, names, 'fatal')
    expect([one, two]).toEqual(['checkout level:error', 'checkout level:[error, fatal]'])
    expect(requiredValues(two, names)).toEqual(['error', 'fatal'])
    expect(toggleValue(two, names, 'error')).toBe('checkout level:fatal')
  })
})

test.each([
  ['', true],
  ['checkout "on pay" level:[error, fatal] (a OR b)', true],
  ['https://x.example', true],
  ['"open', false],
  ['release:[a', false],
  ['(a', false],
  ['a)', false],
  ['a OR ', false],
  ['-release:', false],
  ['events:>', false],
])('%j is finished: %s', (text, expected) => {
  expect(isFinished(text)).toBe(expected)
})
