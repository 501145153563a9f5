import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { client, type Client } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { endBy } from '#test/kit/processes.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { waitFor } from '#test/kit/wait.ts'
import { freePort } from '#test/kit/free-port.ts'
import { makeScratch } from './installation.ts'

/** The operator's story: a backup beside a running service, the machine is lost, a new one continues. */

const settings = (dataDir: string, port: number) => ({
  FAULTLINE_DATA_DIR: dataDir,
  PORT: String(port),
  LOG_LEVEL: 'error',
  FAULTLINE_CANARY_MINUTES: '0',
})

async function serve(dataDir: string, port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['server/main.ts', 'serve'], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...settings(dataDir, port),
    },
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  const isReady = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`)
    return (await fetch(`${url}/readyz`).catch(() => null))?.ok === true
  }
  onTestFinished(() => void child.kill('SIGKILL'))
  await waitFor('the service to be ready', isReady, 60_000)
  return { url, stop: async () => void (await endBy(child, 'SIGTERM')) }
}

test('backup beside the running service, restore on a new machine, log in, send another event', async () => {
  const scratch = makeScratch()
  onTestFinished(scratch.remove)
  const port = await freePort()
  const before = join(scratch.path, 'before')
  const first = await serve(before, port)
  const owner = await aFounder(first.url)
  const project = await aProject(owner)
  const issues = async (by: Client): Promise<number> =>
    (await by.get('/api/issues')).as<{ items: { event_count: number }[] }>().items[0]?.event_count ?? 0
  await sendEvent(first.url, project.dsn, anEvent())
  await waitFor('the first event', async () => (await issues(owner)) === 1)

  const folder = join(scratch.path, 'backups')
  const made = await adminCommand(['backup', folder], settings(before, port))
  expect([made.code, made.lines.at(-1)]).toEqual([0, expect.stringContaining('is complete')])
  const inside = await adminCommand(['backup', join(before, 'backups')], settings(before, port))
  expect([inside.code, inside.lines.at(-1)]).toEqual([1, expect.stringContaining('is inside the data folder')])
  const onto = await adminCommand(['restore', folder], settings(before, port))
  expect([onto.code, onto.lines.at(-1)]).toEqual([1, expect.stringContaining('Faultline already runs on')])
  await first.stop()

  const after = join(scratch.path, 'after')
  mkdirSync(after, { mode: 0o711 })
  cpSync(join(before, 'keys'), join(after, 'keys'), { recursive: true })
  const restored = await adminCommand(['restore', folder], settings(after, port))
  expect([restored.code, restored.lines.at(-1)]).toEqual([0, expect.stringContaining('The restore is complete')])
  expect(restored.lines.join('\n')).toContain('each table has the rows and the content of the backup')

  const second = await serve(after, port)
  const again = client(second.url)
  const loggedIn = await again.post('/api/auth/login', { email: owner.email, password: owner.password })
  expect(loggedIn.status).toBe(200)
  const { id } = await sendEvent(second.url, project.dsn, anEvent())
  expect(id).not.toBe(null)
  await waitFor('the second event', async () => (await issues(again)) === 2)
  const log = await adminCommand(['audit', 'verify'], settings(after, port))
  expect(log.lines.at(-1)).toMatch(/^Verified \d+ audit logs?\.$/)
  await second.stop()
}, 180_000)
