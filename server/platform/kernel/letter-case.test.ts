import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeOutCase } from './letter-case.ts'

const root = join(import.meta.dirname, '../../..')

test.each([
  ['(?i:ab)c', '(?:[aA][bB])c'],
  ['(?i:a(?-i:b(c)d)e)f', '(?:[aA](?:b(c)d)[eE])f'],
  [String.raw`(?i:\w\bx\x60\p{L}\u{1F600})`, String.raw`(?:\w\b[xX]\x60\p{L}\u{1F600})`],
  [String.raw`(?i:[a-z\d_][^b-][\]K-M])`, String.raw`(?:[a-z\d_A-Z][^bB-][\]K-Mk-m])`],
  ['(?i:(?<name>a)(?<=b)(?!c)(?:d))', '(?:(?<name>[aA])(?<=[bB])(?![cC])(?:[dD]))'],
  ['[(?i:]x', '[(?i:]x'],
  [String.raw`\(?i:x`, String.raw`\(?i:x`],
  ['µ1-', 'µ1-'],
])('writes out %s', (source, written) => {
  expect(writeOutCase(source)).toBe(written)
})

test('letters outside of modifiers stand for both cases on request', () => {
  expect(writeOutCase('a(?-i:b)c', true)).toBe('[aA](?:b)[cC]')
})

test('matches like the flag i of the language', () => {
  const letters = fc.constantFrom('a', 'B', 'z', '5', ' ', '_')
  const member = fc.constantFrom('a', 'Q', 'a-f', 'X-Z', '0-9', String.raw`\d`, String.raw`\]`)
  const { source } = fc.letrec<{ source: string; item: string }>((tie) => ({
    source: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => items.join('')),
    item: fc.oneof(
      { maxDepth: 3 },
      letters,
      fc
        .tuple(fc.constantFrom('[', '[^'), fc.array(member, { minLength: 1 }))
        .map(([start, all]) => `${start}${all.join('')}]`),
      fc
        .tuple(fc.constantFrom('(?:', '(?=', '(?<!', '('), tie('source'), tie('source'))
        .map(([start, one, other]) => `${start}${one}|${other})`),
    ),
  }))
  fc.assert(
    fc.property(
      source,
      fc.string({ unit: fc.constantFrom('a', 'b', 'q', 'x', 'z', 'A', 'B', 'Q', 'X', 'Z', '5', ' ', '_', ']') }),
      (pattern, text) => {
        const expected = new RegExp(pattern, 'iu').exec(text)?.slice()
        expect(new RegExp(writeOutCase(pattern, true), 'u').exec(text)?.slice()).toEqual(expected)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('words of messages are the same when expressions are compiled without optimisation', () => {
  const script = `
    const { parameterise } = await import('#server/issues/grouping/v3-words.ts')
    console.log(['User 404 not found', '200 ok, 3 bad', 'got 404 Not Found', "'Ebony' and 'ENOENT'"].map(parameterise).join(';'))`
  const printed = execFileSync(
    process.execPath,
    ['--no-regexp-optimization', '--input-type=module', '--eval', script],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  expect(printed.trim()).toBe(
    "User <number> not found;<number> ok, <number> bad;got 404 Not Found;<quoted> and 'ENOENT'",
  )
})

test('no modifier reaches an expression of the language unwritten', () => {
  const files = globSync('{server,web,scripts,bench,demo}/**/*.{ts,tsx,mjs}', { cwd: root, exclude: ['**/*.test.ts'] })
  const named = files.filter((file) => /\(\?-?i:/.test(readFileSync(join(root, file), 'utf8')))
  expect(named.length).toBeGreaterThan(2)
  for (const file of named) expect(readFileSync(join(root, file), 'utf8'), file).toContain('writeOutCase(')
})
