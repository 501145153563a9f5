import { readdirSync, readFileSync } from 'node:fs'
import { parse, type ParserPlugin } from '@babel/parser'
import { expect, test } from 'vitest'
import type { FunctionRange } from './function-ranges.ts'
import { nameFunctions } from './name-functions.ts'
import { tokenFunctions } from './token-functions.ts'

/** The functions of tokens are those of a syntax tree. */

const TYPESCRIPT: ParserPlugin[] = ['typescript', 'decorators-legacy']

const inOrder = (ranges: FunctionRange[] | null): FunctionRange[] | undefined =>
  ranges?.sort((a, b) => a.start - b.start || b.end - a.end)

/** Expects the same from both parsers. @returns the names */
function namesOfBoth(text: string, types: 'flow' | 'typescript' | null, jsx = true): string[] {
  const plugins: ParserPlugin[] = types === 'typescript' ? TYPESCRIPT : types === 'flow' ? ['flow'] : []
  const tree = parse(text, { sourceType: 'module', plugins: [...plugins, ...(jsx ? (['jsx'] as const) : [])] })
  const expected = inOrder(nameFunctions(tree.program))
  expect(inOrder(tokenFunctions(text, { jsx, types }))).toEqual(expected)
  return expected?.map(({ name }) => name) ?? []
}

const FOLDERS = ['../../../test/fixtures/source-maps/hermes-app/', './', '../../../web/ui/']

test.each(FOLDERS)('sources in %s', (folder) => {
  const url = new URL(folder, import.meta.url)
  const files = readdirSync(url).filter((name) => /\.(?:js|tsx?)$/.test(name) && !name.endsWith('.d.ts'))
  for (const name of files) {
    const text = readFileSync(new URL(name, url), 'utf8')
    namesOfBoth(text, name.endsWith('.js') ? 'flow' : 'typescript', !name.endsWith('.ts'))
  }
  expect(files.length).toBeGreaterThan(2)
})

test.each([
  ['(function () {})(); const a = (function () {}), b = function () {}.bind(c)', ['<anonymous>', 'a', '<anonymous>']],
  ['const a = x ? () => 1 : () => 2; const b = x || (() => 3)', ['<anonymous>', '<anonymous>', '<anonymous>']],
  ['const a = (() => 1)\nconst b = function () {}\nfoo(b)', ['a', 'b']],
  ['const a = (1, () => 2), b = (() => () => 3)()', ['<anonymous>', '<anonymous>', '<anonymous>']],
  [
    'const o = { async: () => 1, async a() {}, get b() {}, async *c() {}, get: () => 2, async() {} }',
    ['async', 'a', 'b', 'c', 'get', 'async'],
  ],
  [
    'const o = { "a\\x62\\n": () => 1, 0x10: () => 2, ["c"]() {}, [d]: () => 3, [e]() {} }',
    ['ab\n', '16', 'c', '<anonymous>', '<anonymous>'],
  ],
  [
    'class A { static async *a() {} get #b() {} static c = () => 1; "constructor"() {} static constructor() {} }',
    ['A.a', 'A.#b', 'A.c', 'new A', 'A.constructor'],
  ],
  [
    'a.b.c = () => 1; a["b"] = () => 2; a.b.prototype.c = () => 3; f().g ||= () => 4; a[b] = () => 5',
    ['c', 'a.b', 'c', 'g', '<anonymous>'],
  ],
  [
    'const a = memo(x, () => 1), b = memo?.(() => 2), c = x["memo"](() => 3), d = memo(() => 4)()',
    ['a', '<anonymous>', 'c', '<anonymous>'],
  ],
  [
    'const a = new memo(() => 1), b = c(() => 2), d = [() => 3], e = `${() => 4}`',
    Array<string>(4).fill('<anonymous>'),
  ],
  ['const a = async x => 1, b = async (x) => 2, c = async function* () {}', ['a', 'b', 'c']],
  [
    '<a b={() => 1} c:d={() => 2} e-f={x && (() => 3)} {...() => 4}>{() => 5}</a>',
    ['b', ...Array<string>(4).fill('<anonymous>')],
  ],
  ['export default class extends (class { a() {} }) { b() {} }', ['a', 'default.b']],
] as const)('%s', (text, names) => {
  expect(namesOfBoth(text, null)).toEqual(names)
})

test.each([
  ['function f(a: string): void; function f(a: any): { b: c } { return () => a }', ['f', '<anonymous>']],
  [
    'abstract class A extends B { private static override readonly a?: () => void = () => {}; protected abstract b(): void; c?<T>(): void {} }',
    ['A.a', 'A.c'],
  ],
  ['const a: () => void = (() => {}) satisfies b as c, d = (<T>(x: T) => x)!', ['a', 'd']],
  ['const a = useCallback<(b: c) => d>(async <T>(e: T) => { f }, [])', ['a']],
  [
    'export = function () {}; declare function g(): void; type T = () => void; interface I { a(): void }',
    ['<anonymous>'],
  ],
] as const)('TypeScript: %s', (text, names) => {
  expect(namesOfBoth(text, 'typescript', false)).toEqual(names)
})

test('a construct that tokens do not show is left to the tree', () => {
  const typescript = { jsx: false, types: 'typescript' } as const
  expect(tokenFunctions('namespace A { export const f = () => 1 }', typescript)).toBeNull()
  expect(tokenFunctions('const f = async <T>(x: T) => x', typescript)).toBeNull()
})

test('a method begins after its decorators, which run outside it', () => {
  const [method] = tokenFunctions('class A { @a() static b() {} }', { jsx: false, types: 'typescript' }) ?? []
  expect(method).toEqual({ start: 15, end: 28, name: 'A.b' })
})
