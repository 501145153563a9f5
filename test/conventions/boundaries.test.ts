import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverDistricts, serverFiles } from '../../scripts/districts.ts'
import { webFeatures, webLayers } from '../../scripts/web-layers.ts'

const root = join(import.meta.dirname, '../..')
let sandbox = ''

beforeAll(() => {
  sandbox = mkdtempSync(join(tmpdir(), 'faultline-lint-'))
  const files = ['oxlint.config.ts', 'scripts/districts.ts', 'scripts/web-layers.ts', 'tsconfig.json', 'package.json']
  for (const file of files) {
    mkdirSync(dirname(join(sandbox, file)), { recursive: true })
    copyFileSync(join(root, file), join(sandbox, file))
  }
  symlinkSync(join(root, 'node_modules'), join(sandbox, 'node_modules'))
})
/** The linter takes long to start: one run for all cases whose files differ. */
beforeAll(async () => {
  const rounds: Map<string, string>[] = []
  for (const [file, content] of cases) {
    const round = rounds.find((one) => !one.has(file))
    if (round === undefined) rounds.push(new Map([[file, content]]))
    else round.set(file, content)
  }
  for (const round of rounds)
    for (const [file, rules] of await refusals(round)) found.set(`${file}\n${round.get(file)}`, rules)
})
afterAll(() => rmSync(sandbox, { recursive: true, force: true }))

/** Names of the rules that refuse each of these files, which exist together. */
async function refusals(files: ReadonlyMap<string, string>): Promise<Map<string, string[]>> {
  for (const [file, content] of files) {
    mkdirSync(dirname(join(sandbox, file)), { recursive: true })
    writeFileSync(join(sandbox, file), content)
  }
  // oxlint exits with 1 when it finds something.
  const output = await new Promise<string>((resolve) => {
    const args = [join(root, 'node_modules/oxlint/bin/oxlint'), '--format=json', ...files.keys()]
    execFile(process.execPath, args, { cwd: sandbox }, (_, stdout) => resolve(stdout))
  })
  for (const file of files.keys()) rmSync(join(sandbox, file))
  const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] }
  return new Map(
    [...files.keys()].map((file) => [
      file,
      [...new Set(diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code))],
    ]),
  )
}

const importing = (from: string): string => `import { a } from '${from}'\nexport const b = [a]\n`
const importingType = (from: string): string => `import type { A } from '${from}'\nexport type B = A[]\n`
const forbidden = ['eslint(no-restricted-imports)']

/** They exist together: no two of them import each other. */
const IMPORTS = [
  ['server/issues/triage/resolve.ts', '../../events/store/store.ts', true],
  ['server/issues/triage/resolve.ts', '../../alerts/rules/rules.ts', false],
  ['server/issues/triage/resolve.ts', '#server/alerts/rules/rules.ts', false],
  ['server/issues/triage/resolve.ts', '../../service/app.ts', false],
  ['server/issues/triage/resolve.ts', '../../main.ts', false],
  ['server/issues/triage/resolve.ts', '../bulk/run.ts', false],
  ['server/issues/triage/resolve.ts', '#server/issues/bulk/run.ts', false],
  ['server/issues/triage/resolve.ts', '../../issues/bulk/run.ts', false],
  ['server/issues/rules/resolution.ts', '../triage/issues.api.ts', false],
  ['server/issues/triage/update-issue.ts', '../rules/resolution.ts', true],
  ['server/ingest/digest/digest.ts', '../intake/intake.ts', true],
  ['server/ingest/intake/limits.ts', '../digest/digest.ts', false],
  ['server/issues/triage/life/cycle.ts', '../../../service/http/errors.ts', false],
  ['server/issues/triage/life/cycle.ts', '../../bulk/run.ts', false],
  ['server/issues/triage/life/cycle.ts', '../../../platform/kernel/errors.ts', true],
  ['server/platform/kernel/units.ts', '../storage/pool.ts', false],
  ['server/platform/kernel/units.ts', '../../config/config.ts', true],
  ['server/platform/storage/pool.ts', '../kernel/ids.ts', true],
  ['server/config/config.ts', '../platform/kernel/units.ts', false],
  ['server/service/app.ts', './http/server.ts', true],
  ['server/service/app.ts', './cli/service.ts', false],
  ['server/service/app.ts', '../main.ts', false],
  ['server/service/tasks.ts', './app.ts', false],
  ['server/service/tasks.ts', '../alerts/rules/rules.ts', true],
  ['server/service/cli/service.ts', '../app.ts', true],
  ['server/main.ts', './service/cli/service.ts', true],
  ['server/service/http/server.ts', '../../ingest/intake/intake.ts', true],
  ['server/service/http/server.ts', '../api/contract.ts', false],
  ['server/service/http/server.ts', '#test/kit/wait.ts', false],
  ['server/service/http/server.ts', '../../../bench/bench.ts', false],
  ['server/issues/triage/resolve.test.ts', '#test/kit/wait.ts', true],
  ['server/issues/triage/issues.api.ts', '../../projects/registry/projects.api.ts', true],
  ['server/issues/triage/issues.api.ts', '../../platform/kernel/contract.ts', true],
  ['server/issues/triage/issues.api.ts', 'zod', true],
  ['server/issues/triage/issues.api.ts', './resolve.ts', false],
  ['server/issues/triage/issues.api.ts', '../../insights/metrics/metrics.api.ts', false],
  ['server/service/api/contract.ts', '../../issues/triage/issues.api.ts', true],
  ['server/issues/triage/issues.api.ts', 'node:fs', false],
  ['server/issues/contract.api.ts', './triage/issues.api.ts', true],
  ['server/issues/contract.api.ts', './triage/resolve.ts', false],
  ['server/issues/contract.api.ts', '../alerts/rules/alerts.api.ts', false],
  ['server/issues/handlers.ts', './triage/issues.handlers.ts', true],
  ['server/issues/handlers.ts', '../alerts/rules/rules.ts', false],
  ['server/issues/contract.api.ts', './handlers.ts', false],
  ['web/features/issues/list/row.tsx', '../../../../server/issues/triage/issues.api.ts', false],
  ['web/features/issues/list/row.tsx', '#server/platform/kernel/errors.ts', false],
  ['web/features/issues/list/row.tsx', '../../../subjects/issue/menus.tsx', true],
  ['web/features/issues/list/row.tsx', '../../../subjects/members/names.ts', true],
  ['web/features/issues/list/row.tsx', '../page/head.tsx', false],
  ['web/features/issues/list/row.tsx', '../../issues/page/head.tsx', false],
  ['web/features/issues/list/row.tsx', '../../identity/members/invites.tsx', false],
  ['web/features/issues/list/row.tsx', '../../alerts/rule-draft.ts', false],
  ['web/features/issues/page/events/list.tsx', '../../list/row.tsx', false],
  ['web/features/issues/page/events/list.tsx', '../../../telemetry/trace/waterfall.tsx', false],
  ['web/features/issues/page/events/list.tsx', '../../../../features/telemetry/trace/waterfall.tsx', false],
  ['web/features/issues/page/events/list.tsx', '../stack-trace/frame.tsx', true],
  ['web/features/alerts/builder.tsx', '../issues/page/head.tsx', false],
  ['web/features/alerts/builder.tsx', '../../subjects/issue/menus.tsx', true],
  ['web/features/alerts/builder.tsx', '../../subjects/alerts/look.ts', true],
  ['web/features/issues/list/row.tsx', '../../../shell/rail.tsx', false],
  ['web/features/issues/list/row.tsx', '../../../routes.tsx', false],
  ['web/shell/top-bar.tsx', '../features/issues/inbox/bell.tsx', true],
  ['web/shell/top-bar.tsx', '../main.tsx', false],
  ['web/subjects/issue/menus.tsx', '../../features/issues/list/row.tsx', false],
  ['web/subjects/issue/menus.tsx', '../members/use-members.ts', true],
  ['web/frames/account-menu.tsx', '../subjects/issue/menus.tsx', false],
  ['web/frames/account-menu.tsx', '../forms/secret-box.tsx', true],
  ['web/forms/secret-box.tsx', '../frames/query-error.tsx', false],
  ['web/app/keys.ts', '../forms/secret-box.tsx', false],
  ['web/app/keys.ts', '../api/call.ts', true],
  ['web/api/call.ts', '../app/texts.ts', false],
  ['web/api/call.ts', '../ui/toasts.tsx', true],
  ['web/address/paths.ts', '../api/queries.ts', false],
  ['web/ui/button.tsx', '../api/call.ts', false],
  ['web/ui/button.tsx', '@tanstack/react-query', false],
  ['web/routes.tsx', './shell/shell.tsx', true],
  ['web/routes.tsx', './main.tsx', false],
] as const

/** The web app imports types of the contract, and no other types of the server; its layers hold for types too. */
const TYPE_IMPORTS = [
  ['web/api/call.ts', '../../server/service/api/contract.ts', true],
  ['web/api/call.ts', '#server/issues/triage/issues.api.ts', true],
  ['web/api/call.ts', '#server/issues/triage/resolve.ts', false],
  ['web/ui/button.tsx', '../app/keys.ts', false],
  ['web/features/issues/list/row.tsx', '../page/head.tsx', false],
  ['web/address/search.ts', '#server/issues/triage/issues.api.ts', false],
] as const

const READING = "export const port = process.env['PORT']\n"

const cases: readonly (readonly [file: string, content: string])[] = [
  ...IMPORTS.map(([file, from]) => [file, importing(from)] as const),
  ...TYPE_IMPORTS.map(([file, from]) => [file, importingType(from)] as const),
  ['server/service/http/server.ts', READING],
  ['server/config/config.ts', READING],
]
/** By file and content. */
const found = new Map<string, readonly string[]>()
const refused = (file: string, content: string) => found.get(`${file}\n${content}`)

test('every district of server/ and every room is in the list, and no room has the name of a district', () => {
  const names = (folder: string) =>
    readdirSync(join(root, folder)).filter((name) => !/\.test\.|^README\.md$/.test(name))
  const districts = serverDistricts.map(({ name }) => name as string)
  expect(names('server').toSorted()).toEqual([...districts, ...Object.values(serverFiles)].toSorted())
  for (const { name, rooms } of serverDistricts) {
    expect(names(`server/${name}`).toSorted(), name).toEqual([...rooms].toSorted())
    expect((rooms as readonly string[]).filter((room) => districts.includes(room))).toEqual([])
  }
})

test('every folder and file of web/ is in the list of layers, and every feature in its list', () => {
  const present = readdirSync(join(root, 'web')).filter(
    (name) => !/^(?:dist|public|index\.html|tsconfig)|\.test\./.test(name),
  )
  expect(present.filter((name) => !(webLayers as readonly string[]).includes(name))).toEqual([])
  const inFeatures = (folder = ''): string[] => readdirSync(join(root, 'web/features', folder))
  const isFeature = (name: string): boolean => (webFeatures as readonly string[]).includes(name)
  const features = inFeatures().flatMap((name) =>
    isFeature(name) ? [name] : inFeatures(name).map((room) => `${name}/${room}`),
  )
  expect(features.toSorted()).toEqual([...webFeatures])
})

test.for(IMPORTS)('%s importing %s: %s', ([file, from, isAllowed]) => {
  expect(refused(file, importing(from))).toEqual(isAllowed ? [] : forbidden)
})

test.for(TYPE_IMPORTS)('%s importing a type of %s: %s', ([file, from, isAllowed]) => {
  expect(refused(file, importingType(from))).toEqual(isAllowed ? [] : forbidden)
})

test('the environment is read in one folder', () => {
  expect(refused('server/service/http/server.ts', READING)).toEqual(['node(no-process-env)'])
  expect(refused('server/config/config.ts', READING)).toEqual([])
})

test('circular imports are refused', async () => {
  const both = await refusals(
    new Map([
      ['server/issues/triage/one.ts', importing('./other.ts')],
      ['server/issues/triage/other.ts', importing('./one.ts')],
    ]),
  )
  expect([...both.values()]).toEqual([['import(no-cycle)'], ['import(no-cycle)']])
})

test.for(['web/ui', 'server/issues/triage'])('circular imports of types are refused in %s', async (folder) => {
  const both = await refusals(
    new Map([
      [`${folder}/one.ts`, importingType('./other.ts')],
      [`${folder}/other.ts`, importingType('./one.ts')],
    ]),
  )
  expect([...both.values()]).toEqual([['import(no-cycle)'], ['import(no-cycle)']])
})
