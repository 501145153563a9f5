import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { RUNS_LONG } from '#test/kit/long.ts'
import { client, type Client } from '#test/kit/client.ts'
import { nothingRunsIn } from '#test/kit/processes.ts'
import { waitFor } from '#test/kit/wait.ts'
import { freePort } from '#test/kit/free-port.ts'
import { makeScratch } from './installation.ts'

/** `npm run demo`, of fewer requests. */

const root = join(import.meta.dirname, '../..')
const SCRIPT = join(root, 'demo/run.ts')
const scratch = makeScratch()
const data = join(scratch.path, 'data')
const mark = () => readFileSync(join(data, 'demo.json'), 'utf8')

afterAll(async () => {
  await nothingRunsIn(scratch.path)
  scratch.remove()
})

/** Runs it until it has said how to log in. */
async function demo(): Promise<{ output: string; person: Client; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [SCRIPT, `--data=${data}`, '--every=12'], {
    env: { PATH: process.env['PATH'], PORT: String(await freePort()), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [, url = '', email = '', password = ''] = await waitFor(
    'the address',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended instead:\n${output}`)
      return /Open {2}(\S+)\n {2}Log in as {2}(\S+) {2}with the password {2}(\S+)\n/.exec(output)
    },
    200_000,
  )
  const person = client(url)
  expect((await person.post('/api/auth/login', { email, password })).status).toBe(200)
  return {
    output,
    person,
    async stop() {
      child.kill('SIGINT')
      await once(child, 'exit')
    },
  }
}

const Counts = z.object({
  items: z.array(z.object({ title: z.string(), status: z.string(), event_count: z.number() })),
})

test.runIf(RUNS_LONG)(
  'it makes an organisation with issues, alerts and members, and serves the same again',
  async () => {
    // The rest of an interrupted run.
    mkdirSync(data)
    writeFileSync(
      join(data, 'demo.json'),
      JSON.stringify({ state: 'filling', madeAt: new Date().toISOString(), password: 'x' }),
    )
    writeFileSync(join(data, 'half'), '')

    const first = await demo()
    expect(first.output).toMatch(
      /^Making 30 days of data in .*\n[^]*\n100 % {2}\d{4}-\d\d-\d\d {2}[\d,]+ requests\nMade in \d+ s\n/,
    )
    const issues = async (one: Client) => Counts.parse((await one.get('/api/issues?limit=100&range=30d')).body).items
    const made = await issues(first.person)
    expect(made.length).toBeGreaterThan(10)
    expect(new Set(made.map(({ status }) => status))).toEqual(
      new Set(['unresolved', 'ignored', 'resolved', 'regressed']),
    )
    const alerts = (await first.person.get('/api/alerts/fired')).as<{ items: { title: string }[] }>().items
    expect(alerts.map(({ title }) => title)).toContain('Came back: CouponError: the coupon was used twice in one order')
    const team = (await first.person.get('/api/team')).as<{ items: object[] }>().items
    expect(team).toHaveLength(5)
    await first.stop()

    const before = mark()
    const second = await demo()
    expect(second.output).not.toContain('Making')
    expect(await issues(second.person)).toEqual(made)
    expect(mark()).toBe(before)
    await second.stop()
    // Half a minute on a quiet machine.
  },
  240_000,
)

test('a folder with other data is left alone', async () => {
  const other = join(scratch.path, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'faultline.lock'), 'mine')
  const run = promisify(execFile)(process.execPath, [SCRIPT, `--data=${other}`, '--fresh'])
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: `${other} holds other data. Name a folder that does not exist with --data=<folder>.\n`,
  })
  expect(readFileSync(join(other, 'faultline.lock'), 'utf8')).toBe('mine')
})
