import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { client } from '../kit/client.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { freePort } from '../kit/free-port.ts'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import { waitFor } from '../kit/wait.ts'
import { containerEngine } from './toolchains.ts'

/** The image of the Dockerfile, built and run as docs/install.md says, with the rights that the compose file leaves it. */

const exec = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const NAME = `faultline-test-${randomBytes(6).toString('hex')}`
const engine = await containerEngine()
const [program = ''] = 'command' in engine ? engine.command : []

/** Prints what the engine prints. @throws with its errors */
async function run(...args: string[]): Promise<string> {
  const { stdout } = await exec(program, args, { cwd: root, timeout: 900_000, maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}
const inside = (...command: string[]): Promise<string> => run('exec', NAME, ...command)

afterAll(async () => {
  if (program === '') return
  await run('rm', '--force', NAME)
  await run('volume', 'rm', '--force', NAME)
  await run('rmi', '--force', NAME)
})

test.skipIf(program === '')(
  `the image serves what an SDK sends, and has it after a restart${'missing' in engine ? `: ${engine.missing}` : ''}`,
  async () => {
    await run('build', '--network', 'host', '--tag', NAME, '.')
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const rights = '--init --network host --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'
    const settings = [`PORT=${port}`, `PUBLIC_URL=${url}`, `ENCRYPTION_KEYS=k1:${randomBytes(32).toString('base64')}`]
    const options = [...rights.split(' '), '--volume', `${NAME}:/data`, ...settings.flatMap((one) => ['--env', one])]
    await run('run', '--detach', '--name', NAME, ...options, NAME)
    const healthy = (): Promise<boolean> =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await waitFor('the container to answer', healthy)
    expect(await inside('id', '-u')).toBe('10001')
    await expect(inside('touch', '/app/a-file')).rejects.toThrow(/[Rr]ead-only file system/)
    expect(await inside('faultline', '--help')).toContain('Usage: faultline')
    // Not every engine runs it by itself.
    const [, check = ''] =
      /^HEALTHCHECK .*\n\s+CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
    await inside(...z.array(z.string()).parse(JSON.parse(check)))

    const owner = await aFounder(url)
    const { dsn } = await aProject(owner)
    expect(await sendEvent(url, dsn, anEvent())).toMatchObject({ status: 200 })
    const titles = async (by: typeof owner | ReturnType<typeof client>): Promise<string[]> =>
      (await by.get('/api/issues')).as<{ items: { title: string }[] }>().items.map(({ title }) => title)
    await waitFor('the issue', async () => (await titles(owner)).length === 1)
    const before = await titles(owner)

    await run('stop', '--time', '30', NAME)
    expect(await run('inspect', '--format', '{{.State.ExitCode}}', NAME)).toBe('0')
    await run('start', NAME)
    await waitFor('the container to answer again', healthy)
    const again = client(url)
    await again.post('/api/auth/login', { email: owner.email, password: owner.password })
    expect(await titles(again)).toEqual(before)
    expect(await run('logs', NAME)).not.toMatch(/"level":"?(?:50|error)/)
  },
  1_200_000,
)
