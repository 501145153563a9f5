import { spawn } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Issue } from '../../server/issues/rules/issue.api.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { CLIENTS, type ClientApp } from './clients.ts'
import { complaints, outcomesOf } from './outcomes.ts'
import { noteRun, writeTableWhenAsked } from './table.ts'

/** Published SDKs of many languages, unmodified, in separate processes; only the DSN is ours. */

const server = await testServer({ realTime: true, digestion: 'inline' })
server.onClose(writeTableWhenAsked)

const RUN_TIMEOUT_MS = 60_000

function run(command: readonly string[], words: readonly string[], dsn: string) {
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const [program = '', ...args] = command
    const child = spawn(program, [...args, ...words], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, SENTRY_DSN: dsn },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_TIMEOUT_MS,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

// In parallel: each toolchain installs or compiles into a separate folder, and mostly waits.
const clients = await Promise.all(
  CLIENTS.map(async (one): Promise<ClientApp & { title: string; command: readonly string[] }> => {
    const ready = await one.prepare()
    return 'command' in ready
      ? { ...one, title: one.name, command: ready.command }
      : { ...one, title: `${one.name} (${ready.missing})`, command: [] }
  }),
)

for (const { name, title, command, sends } of clients) {
  describe.skipIf(command.length === 0)(title, () => {
    test('everything it sends is accepted without processing errors', async () => {
      const person = await aFounder(server.url)
      const project = await aProject(person)
      const dsn = localDsn(project.dsn)
      const { code, output } = await run(command, [], dsn)
      expect(code, output).toBe(0)
      await waitFor(
        `${sends.join(', ')}; there is ${JSON.stringify(await outcomesOf(server.app, project.number))}`,
        async () => {
          const outcomes = await outcomesOf(server.app, project.number)
          return sends.every((category) =>
            outcomes.some((one) => one.category === category && one.outcome === 'accepted'),
          )
        },
        20_000,
      )
      // The app has exited, so nothing more will be spooled.
      await waitFor('digestion', async () => {
        const { rows } = await server.app.db.query('select 1 from spool limit 1')
        return rows.length === 0
      })
      const outcomes = await outcomesOf(server.app, project.number)
      expect(complaints(outcomes)).toEqual([])
      const { items } = (await person.get('/api/issues')).as<{ items: Issue[] }>()
      expect(items.map((issue) => issue.title)).toContain('stock is low')
      expect(items.every((issue) => issue.title !== 'not needed')).toBe(true)
      noteRun('live', name, outcomes)
    })
  })
}

for (const { title, command, crash } of clients.filter((one) => one.crash !== null)) {
  describe.skipIf(command.length === 0)(title, () => {
    test('its crash becomes an issue with the level that the SDK sends', async () => {
      const person = await aFounder(server.url)
      const project = await aProject(person)
      const { code } = await run(command, ['crash'], localDsn(project.dsn))
      expect(code).not.toBe(0)
      const [issue] = await waitFor('the crash', async () => {
        const { items } = (await person.get('/api/issues')).as<{ items: Issue[] }>()
        return items.length > 0 ? items : false
      })
      expect(issue).toMatchObject(crash ?? {})
    })
  })
}

/** DSNs contain the configured address; tests listen on another port. */
function localDsn(dsn: string): string {
  const url = new URL(dsn)
  url.host = new URL(server.url).host
  return url.toString()
}
