import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { readConfig } from '#server/config/config.ts'
import { program } from '#server/main.ts'
import { documentedCommands, NOT_RUN, unmarkedCommands } from '#test/kit/documented-commands.ts'

/** Commands that pages name exist. `test/documented-commands.long.test.ts` runs them. */

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')))
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...globSync('{docs,deploy,server}/**/*.md', { cwd: root }),
]

test('each npm script that a page names is in package.json', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => ({ page, name })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([])
})

/** Commands of `npm run <script> -- <words>` in code, without comments behind them. */
const wordsAfter = (script: string): { page: string; words: string[] }[] =>
  pages.flatMap((page) =>
    [...read(page).matchAll(new RegExp(`\\bnpm run ${script} -- ([^\`\\n|&>;]*)`, 'g'))].map(([, text = '']) => ({
      page,
      // The page of a command may show what is optional in brackets.
      words: (text.split(/\s#|\s<\s/)[0] ?? '').replaceAll(/[[\]]/g, '').trim().split(/\s+/),
    })),
  )
const optionsIn = (words: readonly string[]): string[] =>
  words.filter((word) => word.startsWith('--')).map((word) => word.replace(/=.*/, ''))

test('each command of the operator that a page names exists, with its options', () => {
  const named = wordsAfter('admin').filter(({ words }) => words[0] !== '')
  expect(named.length).toBeGreaterThan(35)
  const wrong = named.filter(({ words }) => {
    let command: Command | undefined = program
    for (const word of words) {
      const next: Command | undefined = command.commands.find((one) => one.name() === word)
      if (next === undefined) break
      command = next
    }
    const known = ['--help', ...command.options.map(({ long }) => long)]
    return command === program || optionsIn(words).some((option) => !known.includes(option))
  })
  expect(wrong).toEqual([])
})

test.each([
  // Each bench has options of its own, torture tests share theirs.
  { script: 'bench', sources: (name: string) => `bench/${name}.ts`, list: 'bench/run.ts' },
  { script: 'torture', sources: () => 'test/torture/*.ts', list: 'test/torture/run.ts' },
])('each name and option of npm run $script exists', ({ script, sources, list }) => {
  const named = wordsAfter(script).filter(({ words: [name = ''] }) => /^[a-z]/.test(name) && name !== 'all')
  expect(named.length).toBeGreaterThan(5)
  const entries = read(list)
  const wrong = named.filter(({ words: [name = '', ...rest] }) => {
    const text = globSync(sources(name), { cwd: root }).map(read).join('\n')
    return (
      !new RegExp(`^ +(?:'${name}'|${name})[,:]`, 'm').test(entries) ||
      optionsIn(rest).some((option) => !new RegExp(`(?:--|['"])${option.slice(2)}\\b`).test(text))
    )
  })
  expect(wrong).toEqual([])
})

test('each option of the demonstration, of sizing and of tests that a page names is one of the command', () => {
  const sources: Readonly<Record<string, string>> = {
    demo: 'demo/run.ts',
    load: 'bench/size-machine.ts',
    'test:clients': 'scripts/test-clients.mjs',
    'test:changed': 'scripts/test-changed.mjs',
  }
  const named = Object.entries(sources).flatMap(([script, source]) =>
    wordsAfter(script).map(({ page, words }) => ({ page, script, source, options: optionsIn(words) })),
  )
  expect(named.length).toBeGreaterThan(2)
  const wrong = named.filter(({ source, options }) =>
    options.some((option) => option !== '--help' && option !== '--' && !read(source).includes(option.slice(2))),
  )
  expect(wrong).toEqual([])
})

const Paths = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
const api = Object.entries(Paths.parse(JSON.parse(read('docs/openapi.json'))).paths)

/** Whether the API has a path: parameters of a page are `:id`, `{id}`, `$ID`, `<id>` or an example. */
function isInApi(method: string | null, path: string): boolean {
  const parts = path
    .replace(/[?#].*/, '')
    .replace(/\/$/, '')
    .split('/')
  return api.some(([known, operations]) => {
    const own = known.split('/')
    return (
      own.length === parts.length &&
      own.every((part, at) => part === parts[at] || part.startsWith('{') || /^[:{$<…]/.test(parts[at] ?? '')) &&
      (method === null || method.toLowerCase() in operations)
    )
  })
}

/** Requests of SDKs, which the API document leaves out, and paths that stand for several. */
const isOutside = (path: string): boolean => /^\/api\/(?:<number>|\d|\$|embed\/|store\/|openapi)|\*|…/.test(path)

test('each request that a page names is one of the API', () => {
  const named = pages
    .filter((page) => page !== 'CHANGELOG.md' && !page.startsWith('docs/decisions/') && page !== 'docs/protocol.md')
    .flatMap((page) =>
      [...read(page).matchAll(/\b(GET|POST|PATCH|PUT|DELETE) (\/api\/[^\s`,)|"';]*)/g)].map(
        ([, method = '', path = '']) => ({ page, method, path: path.replace(/[.:]$/, '') }),
      ),
    )
  expect(named.length).toBeGreaterThan(250)
  expect(named.filter(({ method, path }) => !isOutside(path) && !isInApi(method, path))).toEqual([])
})

test('each example of curl calls a path of the API', () => {
  const named = pages
    .filter((page) => page.startsWith('docs/') && page !== 'docs/protocol.md')
    .flatMap((page) =>
      [...read(page).matchAll(/```sh\n(.*?)```/gs)]
        .filter(([, code = '']) => /\bcurl\b/.test(code))
        .flatMap(([, code = '']) =>
          [...code.matchAll(/(?:https:\/\/[\w.]+|\$\w+)(\/api\/[^\s"']*)/g)].map(([, path = '']) => ({ page, path })),
        ),
    )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ path }) => !isOutside(path) && !isInApi(null, path))).toEqual([])
})

test('each JSON example of a page can be read', () => {
  const examples = pages.flatMap((page) =>
    [...read(page).matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => ({ page, text })),
  )
  expect(examples.length).toBeGreaterThan(5)
  const broken = examples.filter(({ text }) => {
    try {
      JSON.parse(text)
      return false
    } catch {
      return true
    }
  })
  expect(broken).toEqual([])
})

test('each command of the guide is in a block that is run, and each that is not run is still in the guide', () => {
  expect(unmarkedCommands()).toEqual([])
  const shown = documentedCommands().map(({ text }) => text)
  expect(shown.length).toBeGreaterThan(100)
  expect(NOT_RUN.filter(({ starts }) => !shown.some((text) => text.includes(starts)))).toEqual([])
})

test('each YAML example of a page can be read, and values of the chart are its own', () => {
  const examples = pages.flatMap((page) =>
    [...read(page).matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => ({ page, value: parse(text) as unknown })),
  )
  expect(examples.length).toBeGreaterThan(2)
  for (const { value } of examples) expect(value).toBeTypeOf('object')
  const chart = z.record(z.string(), z.unknown()).parse(parse(read('deploy/helm/faultline/values.yaml')))
  const Values = z.object({ ingress: z.record(z.string(), z.unknown()) })
  const given = examples.flatMap(({ value }) => Object.keys(Values.safeParse(value).data?.ingress ?? {}))
  expect(given.length).toBeGreaterThan(2)
  expect(given.filter((name) => !(name in Values.parse(chart).ingress))).toEqual([])
})

test('each example of settings is accepted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'nats://faultline:password@n1:4222,n2:4222,n3:4222\n')
  const lines = pages.flatMap((page) =>
    [...read(page).matchAll(/^```(?:sh)?\n(.*?)^```/gms)].flatMap(([, text = '']) =>
      text.split('\n').filter((line) => /^(?:[A-Z][A-Z0-9_]+=(?:"[^"]*"|\S+) *)+(?:#.*)?$/.test(line)),
    ),
  )
  expect(lines.length).toBeGreaterThan(8)
  for (const line of lines) {
    const settings = [...line.replace(/\s#.*/, '').matchAll(/([A-Z][A-Z0-9_]+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, name = '', quoted, plain = '']) =>
        [name, name.endsWith('_FILE') ? secret : (quoted ?? plain).replaceAll('…', 'example')] as const,
    )
    expect(() => readConfig(Object.fromEntries(settings)), line).not.toThrow()
  }
})
