import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partsOfCode, partsOfJson } from './highlight.tsx'

const kinds = (source: string) => partsOfCode(source).map(({ text, kind }) => [text, kind])

test('keywords, calls, strings, numbers and comments', () => {
  expect(kinds(`const a = call("x", 12) // done`)).toEqual([
    ['const', 'keyword'],
    [' a = ', null],
    ['call', 'name'],
    ['(', null],
    ['"x"', 'string'],
    [', ', null],
    ['12', 'number'],
    [') ', null],
    ['// done', 'comment'],
  ])
})

test('# starts a comment only at the start of a line or after a space', () => {
  expect(kinds('x = 1 # why')).toContainEqual(['# why', 'comment'])
  expect(kinds('this.#secret')).toEqual([
    ['this', 'keyword'],
    ['.#secret', null],
  ])
  expect(kinds('#[derive(Debug)]').some(([, kind]) => kind === 'comment')).toBe(false)
})

test('an unclosed string ends with its line', () => {
  expect(kinds(`it's\nnext`)).toEqual([
    ['it', null],
    [`'s`, 'string'],
    ['\nnext', null],
  ])
})

test('no character is lost or added', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('"', "'", '`', '\\', '/', '*', '#', '\n', 'a', '1', '.', ' ', '\ud800', '😀'),
      }),
      (source) => {
        expect(
          partsOfCode(source)
            .map(({ text }) => text)
            .join(''),
        ).toBe(source)
      },
    ),
  )
})

test('long lines take no time', () => {
  const source = `${'a("'.repeat(20_000)}`
  const start = performance.now()
  partsOfCode(source)
  expect(performance.now() - start).toBeLessThan(500)
})

test('JSON: names, strings, numbers and words, and nothing is lost', () => {
  expect(
    partsOfJson('{"id": "a\\"b", "n": -1.5e3, "ok": null}').flatMap(({ text, kind }) =>
      kind === null ? [] : [[text, kind]],
    ),
  ).toEqual([
    ['"id"', 'name'],
    ['"a\\"b"', 'string'],
    ['"n"', 'name'],
    ['-1.5e3', 'number'],
    ['"ok"', 'name'],
    ['null', 'keyword'],
  ])
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const source = JSON.stringify(value, null, 2)
      expect(
        partsOfJson(source)
          .map(({ text }) => text)
          .join(''),
      ).toBe(source)
    }),
  )
})
