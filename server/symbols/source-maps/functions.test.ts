import { expect, test } from 'vitest'
import { readMetroFunctions, findFunctions } from './read-functions.ts'

/** The name at each `§` of a source, which is removed. */
function namesAt(source: string, marked: string): (string | null)[] {
  const places: [number, number][] = []
  let line = 0
  let column = 0
  let text = ''
  for (const character of marked) {
    if (character === '§') places.push([line, column])
    else {
      text += character
      column++
      if (character === '\n') {
        line++
        column = 0
      }
    }
  }
  const functions = findFunctions(source, text)
  return places.map(([at, in_]) => functions?.nameAt(at, in_) ?? null)
}

test.each([
  ['a.js', 'function pay() { §x } §y', ['pay', '<global>']],
  ['a.js', 'const pay = () => §x', ['pay']],
  ['a.js', 'const pay = function () { §x }', ['pay']],
  ['a.js', 'const pay = function own() { §x }', ['own']],
  ['a.js', 'let pay; pay = async () => { §x }', ['pay']],
  ['a.js', 'function outer() { §a; function inner() { §b } §c }', ['outer', 'inner', 'outer']],
  ['a.js', '[1].map(x => §x); (() => { §y })()', ['<anonymous>', '<anonymous>']],
  ['a.js', 'class Cart { pay() { §x } static of() { §y } constructor() { §z } }', ['Cart.pay', 'Cart.of', 'new Cart']],
  [
    'a.js',
    'class Cart { get total() { §x } #hide() { §y } pay = () => { §z } }',
    ['Cart.total', 'Cart.#hide', 'Cart.pay'],
  ],
  [
    'a.js',
    'class Cart { static { §x } ["a" + b]() { §y } "c d"() { §z } }',
    ['Cart.<static>', '<anonymous>', 'Cart.c d'],
  ],
  ['a.js', 'const Cart = class { pay() { §x } }', ['Cart.pay']],
  ['a.js', 'class A { m() { class B { n() { §x } } const f = () => §y } }', ['B.n', 'f']],
  [
    'a.js',
    'const o = { pay() { §x }, onPress: () => §y, get z() { §z }, [k]: () => §w }',
    ['pay', 'onPress', 'z', '<anonymous>'],
  ],
  ['a.js', 'export default function () { §x }', ['default']],
  ['a.js', 'export default () => §x', ['default']],
  ['a.js', 'export default class { pay() { §x } }', ['default.pay']],
  ['a.js', 'export default { methods: { pay() { §x } } }', ['pay']],
  [
    'a.js',
    'exports.pay = () => §x; Cart.prototype.pay = function () { §y }; this.a = () => §z',
    ['pay', 'Cart.pay', 'a'],
  ],
  ['a.js', 'module.exports = function () { §x }', ['exports']],
  ['a.jsx', 'const B = () => <Button onPress={() => §x} />', ['onPress']],
  [
    'a.js',
    'const onPress = useCallback(() => { §x }, []); const C = React.memo(forwardRef((p, r) => §y))',
    ['onPress', 'C'],
  ],
  ['a.js', 'const total = items.map(() => §x)', ['<anonymous>']],
  ['a.js', 'function f({ g = () => §x }, h = () => §y) { §z }', ['g', 'h', 'f']],
  ['a.js', '// @flow\nfunction f(x: ?number): string { §x } type A = {| b: number |}', ['f']],
  [
    'a.ts',
    'const f = (async <T>(x: T) => { §x }) as unknown; enum E { A } abstract class C { abstract a(): void; b() { §y } }',
    ['f', 'C.b'],
  ],
  ['a.ts', 'const a = <any>(() => §x); namespace N { export function f() { §y } }', ['a', 'f']],
  ['a.ts', 'class C { @dec() m(@Inject() private x: X) { §y } }', ['C.m']],
  ['a.tsx', 'const B = <T,>(p: P<T>) => <a onClick={() => §x}>{[1].map((q) => §y)}</a>', ['onClick', '<anonymous>']],
  ['a.ts?x=1', 'function f(a: string) { §x }', ['f']],
  ['index', 'function f() { §x }', ['f']],
  ['a.js', 'return; function f() { §x } await y; with (a) {} function f() { §y }', ['f', 'f']],
  ['a.js', 'function f() { §x } }}} const', null],
  ['a.css', 'function f() { §x }', [null]],
  [
    'a.vue',
    '<template>\n <a/>\n</template>\n<script lang="ts">function f(a: string) { §x }\nconst g = () => §y</script>',
    ['f', 'g'],
  ],
  ['a.vue', 'function f() { §x }', ['f']],
  ['a.vue', '<template></template>', []],
] as const)('%s: %s', (source, marked, names) => {
  if (names === null) expect(() => namesAt(source, marked)).not.toThrow()
  else expect(namesAt(source, marked)).toEqual(names)
})

test('a source that nests deeper than the stack has no functions', () => {
  expect(findFunctions('a.js', '('.repeat(100_000))).toBeNull()
  const nested = `${'() => {'.repeat(100)}${'}'.repeat(100)}`
  expect(findFunctions('a.js', nested)?.nameAt(0, 20)).toBe('<anonymous>')
})

test('function maps of Metro are read, and damaged ones ignored', () => {
  // <global> at 1:0, pay at 1:9, <global> at 3:1, Cart#pay at 3:4.
  const functions = readMetroFunctions([{ names: ['<global>', 'pay', 'Cart#pay'], mappings: 'AAA,SCC;CDE,GEA' }])
  const at = (line: number, column: number): string | null | undefined => functions?.nameAt(line, column)
  expect([at(0, 0), at(0, 99), at(1, 8), at(1, 9), at(2, 0)]).toEqual([
    '<global>',
    '<global>',
    '<global>',
    'pay',
    'pay',
  ])
  for (const entry of [
    null,
    [],
    [null],
    [{ names: [], mappings: 'AAA' }],
    [{ names: ['a'], mappings: '!' }],
    'x',
    [{}],
  ]) {
    expect(readMetroFunctions(entry)).toBeNull()
  }
})
