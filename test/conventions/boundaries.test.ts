import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverFolders } from '../../scripts/server-layers.ts'
import { webFeatures, webLayers } from '../../scripts/web-layers.ts'

const root = join(import.meta.dirname, '../..')
let sandbox = ''

beforeAll(() => {
  sandbox = mkdtempSync(join(tmpdir(), 'faultline-lint-'))
  const files = [
    'oxlint.config.ts',
    'scripts/server-layers.ts',
    'scripts/web-layers.ts',
    'tsconfig.json',
    'package.json',
  ]
  for (const file of files) {
    mkdirSync(dirname(join(sandbox, file)), { recursive: true })
    copyFileSync(join(root, file), join(sandbox, file))
  }
  symlinkSync(join(root, 'node_modules'), join(sandbox, 'node_modules'))
})
afterAll(() => rmSync(sandbox, { recursive: true, force: true }))

/** Names of the rules that refuse a file with this content at this place. */
async function refusals(file: string, content: string): Promise<string[]> {
  const path = join(sandbox, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  // oxlint exits with 1 when it finds something.
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

test('every folder and file of server/ is in the list of layers', () => {
  const present = readdirSync(join(root, 'server')).filter((name) => !name.includes('.test.'))
  expect(present.filter((name) => !(serverFolders as readonly string[]).includes(name))).toEqual([])
})

test('every folder and file of web/ is in the list of layers, and every feature in its list', () => {
  const present = readdirSync(join(root, 'web')).filter(
    (name) => !/^(?:dist|public|index\.html|tsconfig)|\.test\./.test(name),
  )
  expect(present.filter((name) => !(webLayers as readonly string[]).includes(name))).toEqual([])
  expect(readdirSync(join(root, 'web/features')).toSorted()).toEqual([...webFeatures])
})

test.for([
  ['server/issues/resolve.ts', '../events/store.ts', true],
  ['server/issues/resolve.ts', '../alerts/rules.ts', false],
  ['server/issues/resolve.ts', '#server/alerts/rules.ts', false],
  ['server/issues/resolve.ts', '../app.ts', false],
  ['server/issue-rules/resolution.ts', '../issues/issues.api.ts', false],
  ['server/issues/update-issue.ts', '../issue-rules/resolution.ts', true],
  ['server/digest/digest.ts', '../intake/intake.ts', true],
  ['server/intake/intake.ts', '../digest/digest.ts', false],
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
  ['server/issues/issues.api.ts', '../metrics/metrics.api.ts', false],
  ['server/http/contract.ts', '../issues/issues.api.ts', true],
  ['server/issues/issues.api.ts', 'node:fs', false],
  ['web/features/issues/list.tsx', '../../../server/issues/issues.api.ts', false],
  ['web/features/issues/list.tsx', '#server/kernel/errors.ts', false],
  ['web/features/issues/list.tsx', '../../common/issue/menus.tsx', true],
  ['web/features/issues/list.tsx', '../issue/head.tsx', false],
  ['web/features/issue/events/list.tsx', '../../issues/row.tsx', false],
  ['web/features/issue/events/list.tsx', '../stack-trace/frame.tsx', true],
  ['web/features/issues/list.tsx', '../../shell/rail.tsx', false],
  ['web/features/issues/list.tsx', '../../routes.tsx', false],
  ['web/shell/top-bar.tsx', '../features/inbox/bell.tsx', true],
  ['web/shell/top-bar.tsx', '../main.tsx', false],
  ['web/common/issue/menus.tsx', '../../features/issues/row.tsx', false],
  ['web/common/issue/menus.tsx', '../members/use-members.ts', true],
  ['web/api/call.ts', '../common/texts.ts', false],
  ['web/api/call.ts', '../ui/toasts.tsx', true],
  ['web/address/paths.ts', '../api/queries.ts', false],
  ['web/ui/button.tsx', '../api/call.ts', false],
  ['web/ui/button.tsx', '@tanstack/react-query', false],
  ['web/routes.tsx', './shell/shell.tsx', true],
  ['web/routes.tsx', './main.tsx', false],
] as const)('%s importing %s: %s', async ([file, from, isAllowed]) => {
  expect(await refusals(file, importing(from))).toEqual(isAllowed ? [] : forbidden)
})

test('the web app imports types of the contract, and no other types of the server', async () => {
  expect(await refusals('web/api/call.ts', importingType('../../server/http/contract.ts'))).toEqual([])
  expect(await refusals('web/api/call.ts', importingType('#server/issues/issues.api.ts'))).toEqual([])
  expect(await refusals('web/api/call.ts', importingType('#server/issues/resolve.ts'))).toEqual(forbidden)
})

test('the layers of the web app hold for types too', async () => {
  expect(await refusals('web/ui/button.tsx', importingType('../common/keys.ts'))).toEqual(forbidden)
  expect(await refusals('web/features/issues/list.tsx', importingType('../issue/head.tsx'))).toEqual(forbidden)
  expect(await refusals('web/address/search.ts', importingType('#server/issues/issues.api.ts'))).toEqual(forbidden)
})

test('the environment is read in one file', async () => {
  const reading = "export const port = process.env['PORT']\n"
  expect(await refusals('server/http/server.ts', reading)).toEqual(['node(no-process-env)'])
  expect(await refusals('server/config.ts', reading)).toEqual([])
})

test('circular imports are refused', async () => {
  const path = join(sandbox, 'server/issues/other.ts')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, importing('./one.ts'))
  expect(await refusals('server/issues/one.ts', importing('./other.ts'))).toEqual(['import(no-cycle)'])
  rmSync(path)
})

test.for(['web/ui', 'server/issues'])('circular imports of types are refused in %s', async (folder) => {
  const path = join(sandbox, folder, 'other.ts')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, importingType('./one.ts'))
  expect(await refusals(`${folder}/one.ts`, importingType('./other.ts'))).toEqual(['import(no-cycle)'])
  rmSync(path)
})
