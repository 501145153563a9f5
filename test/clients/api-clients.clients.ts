import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFounder, aProject } from '../kit/founder.ts'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { run } from './run.ts'
import { apiPython } from './toolchains.ts'

/** Clients that generators make of the API document of a running service, as docs/api.md says, are compiled and used. */

const here = import.meta.dirname
const root = join(here, '../..')
const server = await testServer({ realTime: true, digestion: 'inline', jobs: true })
const TIMEOUT_MS = 300_000

/** The command of the section "Clients" of docs/api.md that begins like this, split into words. */
function documented(beginning: string, values: Readonly<Record<string, string>>): string[] {
  const lines = readFileSync(join(root, 'docs/api.md'), 'utf8').split('\n')
  const line = lines.find((one) => one.startsWith(beginning))
  if (line === undefined) throw new Error(`docs/api.md has no command that begins with "${beginning}"`)
  return line
    .split(' ')
    .map((word) => word.replaceAll('"', '').replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? ''))
}

/** A folder for generated code, from which packages of test/clients are found. */
function emptyFolder(name: string): string {
  const folder = join(here, '.cache', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** An organisation with one issue, and a key for it. */
async function anIssue(): Promise<{ FAULTLINE: string; KEY: string }> {
  const person = await aFounder(server.url)
  const project = await aProject(person)
  await sendEvent(server.url, project.dsn, anEvent({ error: 'The basket is empty' }))
  await waitFor('an issue', async () => {
    const { items } = (await person.get('/api/issues')).as<{ items: unknown[] }>()
    return items.length > 0 ? items : null
  })
  const scopes = ['issues:read', 'issues:write']
  const { key } = (await person.post('/api/api-keys', { name: 'Client', scopes })).as<{ key: string }>()
  return { FAULTLINE: server.url, KEY: key }
}

async function must(command: readonly string[], options: Parameters<typeof run>[1] = {}): Promise<string> {
  const { code, output } = await run(command, options)
  expect(code, `${command.join(' ')}\n${output}`).toBe(0)
  return output
}

const EXPECTED = {
  total: 1,
  title: expect.stringContaining('The basket is empty') as string,
  status: 'resolved',
  refused: [401, expect.stringMatching(/\.$/) as string],
}

test('TypeScript: openapi-typescript and openapi-fetch', { timeout: TIMEOUT_MS }, async () => {
  const env = await anIssue()
  const folder = emptyFolder('api-typescript')
  const [, program = '', ...args] = documented('npx openapi-typescript', env)
  await must([process.execPath, join(here, 'node_modules', program, 'bin/cli.js'), ...args], { cwd: folder })
  cpSync(join(here, 'apps/api-typescript/client.ts.template'), join(folder, 'client.ts'))
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'esnext',
    '--module',
    'nodenext',
    '--types',
    'node',
  ]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await must([process.execPath, tsc, ...options, '--allowImportingTsExtensions', 'client.ts'], { cwd: folder })
  expect(JSON.parse(await must([process.execPath, 'client.ts'], { cwd: folder, env }))).toEqual(EXPECTED)
})

const generator = await apiPython()

test.skipIf('missing' in generator)('Python: openapi-python-client', { timeout: TIMEOUT_MS }, async () => {
  if ('missing' in generator) return
  const [python = '', client = ''] = generator.command
  const env = { ...(await anIssue()), PATH: `${join(python, '..')}:${process.env.PATH ?? ''}` }
  const folder = emptyFolder('api-python-client')
  const [program = '', ...args] = documented('openapi-python-client generate', env)
  await must([join(python, '..', program), ...args], { cwd: folder, env })
  await must([python, '-m', 'compileall', '-q', '.'], { cwd: folder })
  // The generator's own code does not pass the strict check; what the program takes from it must.
  await must([python, '-m', 'mypy', '--strict', '--follow-imports=silent', client], { cwd: folder })
  expect(JSON.parse(await must([python, client], { env: { ...env, PYTHONPATH: folder } }))).toEqual(EXPECTED)
})
