import { expect, test } from 'vitest'
import { javascriptOf, packagesOf } from './javascript.ts'
import { closure, locate, parseLockGraph } from './lock-closure.ts'
import { packageManifest, shrinkwrap } from './manifest.ts'
import { LIMITS, packageProblems } from './problems.ts'

test('types become spaces and names of modules those of the package; lines and columns stay', () => {
  const source = [
    "import { a, type B } from './a.ts'",
    "import type { C } from '#shared/c.ts'",
    "const thread = new URL('../worker-thread.ts', import.meta.url)",
    "const lazy = () => import('#shared/d.ts')",
    "export const of = (one: B): C => a(one) as C // './a.ts' in `b.ts`",
    "const text = 'src/cart.ts'",
  ].join('\n')
  const code = javascriptOf(source)
  expect(code.split('\n')).toEqual([
    expect.stringMatching(/^import \{ a, +\} from '\.\/a\.js'$/),
    '',
    "const thread = new URL('../worker-thread.js', import.meta.url)",
    "const lazy = () => import('#shared/d.js')",
    expect.stringMatching(/^export const of = \(one +\) +=> a\(one\)/),
    "const text = 'src/cart.ts'",
  ])
  expect(code.split('\n')[4]?.indexOf('a(one)')).toBe(source.split('\n')[4]?.indexOf('a(one)'))
})

test('packages are those of imports, of values only', () => {
  const code = [
    "import { z } from 'zod'",
    "import type { Pool } from 'pg'",
    "import { readFileSync } from 'node:fs'",
    "export { parse } from '@babel/parser/lib/index.js'",
    "const later = () => import('otpauth')",
    "const engine = createRequire(import.meta.url)('re2js')",
    "const wasm = createRequire(import.meta.url).resolve('demangle/index.wasm')",
    'const text = "import { no } from \'no\'"',
    "import { near } from './near.js'",
    "resolve('late')",
  ].join('\n')
  expect([...packagesOf(code)].toSorted()).toEqual(['@babel/parser', 'demangle', 'otpauth', 're2js', 'zod'])
})

const graph = parseLockGraph(
  JSON.stringify({
    packages: {
      '': { name: 'checkout' },
      'node_modules/a': {
        version: '1.0.0',
        integrity: 'sha512-a',
        engines: { node: '>=99' },
        dependencies: { b: '^1' },
        dev: true,
      },
      'node_modules/a/node_modules/b': { version: '1.5.0', dependencies: { c: '^1' } },
      'node_modules/b': { version: '2.0.0' },
      'node_modules/c': {
        version: '1.0.0',
        peerDependencies: { a: '*', d: '*' },
        peerDependenciesMeta: { d: { optional: true } },
      },
      'node_modules/d': { version: '1.0.0' },
      'node_modules/machine': { version: '1.0.0', os: ['linux'] },
      'node_modules/e': {
        version: '1.0.0',
        dependencies: { machine: '1' },
        optionalDependencies: { machine: '1' },
      },
    },
  }),
)

test('a dependency is looked up as Node does, from the nearest folder', () => {
  expect(locate(graph, 'node_modules/a', 'b')).toBe('node_modules/a/node_modules/b')
  expect(locate(graph, 'node_modules/a/node_modules/b', 'c')).toBe('node_modules/c')
  expect(locate(graph, 'node_modules/c', 'b')).toBe('node_modules/b')
  expect(locate(graph, '', 'nothing')).toBeNull()
})

test('the packages of a name are all that it needs; optional ones where asked', () => {
  expect([...closure(graph, ['a'], true)].toSorted()).toEqual([
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
  ])
  expect([...closure(graph, ['e'], false)]).toEqual(['node_modules/e'])
  expect([...closure(graph, ['e'], true)].toSorted()).toEqual(['node_modules/e', 'node_modules/machine'])
})

const checkout = JSON.stringify({
  name: 'faultline',
  version: '9.9.9',
  description: 'text',
  license: 'MIT',
  private: true,
  engines: { node: '>=20' },
  dependencies: { a: '1.0.0', b: '2.0.0' },
  optionalDependencies: { e: '1.0.0' },
  devDependencies: { d: '1.0.0' },
})

test('the manifest names only what the server imports, and the lockfile what that needs', () => {
  const manifest = packageManifest(checkout, new Set(['a']))
  expect(manifest).toMatchObject({ dependencies: { a: '1.0.0' }, dataFolder: 'faultline-data' })
  expect(Object.keys(manifest)).not.toContain('private')
  expect(Object.keys(manifest)).not.toContain('devDependencies')
  const { packages } = JSON.parse(shrinkwrap(manifest, graph)) as { packages: Record<string, object> }
  expect(packages['node_modules/a']).toEqual({ version: '1.0.0', integrity: 'sha512-a', dependencies: { b: '^1' } })
  expect(packages['node_modules/machine']).toEqual({ version: '1.0.0', os: ['linux'], optional: true })
  expect(packages['node_modules/b']).toBeUndefined()
  expect(() => packageManifest(checkout, new Set(['a', 'd']))).toThrow('the server imports d,')
})

test('tests, source maps, secrets and paths of the machine are refused, and too much', () => {
  const file = (path: string, text = '') => ({ path, bytes: Buffer.from(text) })
  const good = [file('server/main.js', "import './a.js'"), file('web/dist/assets/a.js.br', '\u0001')]
  expect(packageProblems(good, ['/home/ann'])).toEqual([])
  const names = ['server/a.ts', 'server/a.test.js', 'web/dist/a.js.map', '.env', 'test/kit/a.js', 'node_modules/x/a.js']
  expect(
    packageProblems(
      names.map((name) => file(name)),
      [],
    ),
  ).toHaveLength(names.length)
  const key = `-----BEGIN PRIVATE KEY-----\n${'a'.repeat(64)}\n`
  expect(
    packageProblems(
      [
        file('a.js', 'at /home/ann/faultline/a.ts'),
        file('b.js', key),
        file('c.js', '//# sourceMappingURL=c.js.map'),
        file('d.bin', '.'.repeat(LIMITS.unpackedBytes)),
      ],
      ['/home/ann'],
    ),
  ).toEqual([
    'a.js names /home/ann',
    'b.js holds what looks like a secret',
    'c.js names a source map',
    expect.stringContaining(`${LIMITS.unpackedBytes} at most`),
  ])
  const many = Array.from({ length: LIMITS.files + 1 }, (_, index) => file(`${index}.js`))
  expect(packageProblems(many, [])).toEqual([`${LIMITS.files + 1} files, ${LIMITS.files} at most`])
})
