import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverFolders } from '../../scripts/server-layers.ts'

const root = join(import.meta.dirname, '../..')
let sandbox = ''

beforeAll(() => {
  sandbox = mkdtempSync(join(tmpdir(), 'faultline-lint-'))
  for (const file of ['oxlint.config.ts', 'scripts/server-layers.ts', 'tsconfig.json', 'package.json']) {
    mkdirSync(dirname(join(sandbox, file)), { recursive: true })
    copyFileSync(join(root, file), join(sandbox, file))
  }
  symlinkSync(join(root, 'node_modules'), join(sandbox, 'node_modules'))
})
afterAll(() => rmSync(sandbox, { recursive: true, force: true }))

/** Names of the rules that refuse a file of this content at this place. */
async function refusals(file: string, content: string): Promise<string[]> {
  const path = join(sandbox, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  // oxlint ends with 1 when it finds something.
  const output = await new Promise<string>((resolve) => {
    const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '--format=json', file]
    execFile(process.execPath, args, { cwd: sandbox }, (_, stdout) => resolve(stdout))
  })
  rmSync(path)
  const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string }[] }
  return [...new Set(diagnostics.map(({ code }) => code))]
}

const importing = (from: string): string => `import { a } from '${from}'\nexport const b = [a]\n`
const importingType = (from: string): string => `import type { A } from '${from}'\nexport type B = A[]\n`
const forbidden = ['eslint(no-restricted-imports)']

test('every folder and file of server/ has its place in the order', () => {
  const present = readdirSync(join(root, 'server')).filter((name) => !name.includes('.test.'))
  expect(present.filter((name) => !(serverFolders as readonly string[]).includes(name))).toEqual([])
})

test.for([
  ['server/issues/resolve.ts', '../events/store.ts', true],
  ['server/issues/resolve.ts', '../alerts/rules.ts', false],
  ['server/issues/resolve.ts', '#server/alerts/rules.ts', false],
  ['server/issues/resolve.ts', '../app.ts', false],
  ['server/issues/life/cycle.ts', '../../http/errors.ts', false],
  ['server/issues/life/cycle.ts', '../../kernel/errors.ts', true],
  ['server/kernel/ids.ts', '../storage/pool.ts', false],
  ['server/storage/pool.ts', '../kernel/ids.ts', true],
  ['server/app.ts', './http/server.ts', true],
  ['server/app.ts', './main.ts', false],
  ['server/http/server.ts', '../intake/intake.ts', true],
  ['server/http/server.ts', '#test/kit/wait.ts', false],
  ['server/http/server.ts', '../../bench/bench.ts', false],
  ['server/issues/resolve.test.ts', '#test/kit/wait.ts', true],
  ['server/issues/issues.api.ts', '../projects/projects.api.ts', true],
  ['server/issues/issues.api.ts', '../kernel/contract.ts', true],
  ['server/issues/issues.api.ts', 'zod', true],
  ['server/issues/issues.api.ts', './resolve.ts', false],
  ['server/issues/issues.api.ts', 'node:fs', false],
  ['web/pages/issues.tsx', '../../server/issues/issues.api.ts', false],
  ['web/pages/issues.tsx', '#server/kernel/errors.ts', false],
  ['web/ui/button.tsx', '../api/call.ts', false],
  ['web/ui/button.tsx', '@tanstack/react-query', false],
] as const)('%s importing %s: %s', async ([file, from, isAllowed]) => {
  expect(await refusals(file, importing(from))).toEqual(isAllowed ? [] : forbidden)
})

test('the web app takes types of the contract, and no other types', async () => {
  expect(await refusals('web/api/call.ts', importingType('../../server/http/contract.ts'))).toEqual([])
  expect(await refusals('web/api/call.ts', importingType('#server/issues/issues.api.ts'))).toEqual([])
  expect(await refusals('web/api/call.ts', importingType('#server/issues/resolve.ts'))).toEqual(forbidden)
})

test('the environment is read in one file', async () => {
  const reading = "export const port = process.env['PORT']\n"
  expect(await refusals('server/http/server.ts', reading)).toEqual(['node(no-process-env)'])
  expect(await refusals('server/config.ts', reading)).toEqual([])
})

test('circles are refused', async () => {
  const path = join(sandbox, 'server/issues/other.ts')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, importing('./one.ts'))
  expect(await refusals('server/issues/one.ts', importing('./other.ts'))).toEqual(['import(no-cycle)'])
  rmSync(path)
})
