import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'

const SCRIPT = join(import.meta.dirname, 'size-machine.ts')
const server = await testServer({ realTime: true, digestion: 'inline' })
const run = (...args: string[]) => promisify(execFile)(process.execPath, [SCRIPT, ...args])

test('a running service gets events until the highest rate, and its figures are in the lines', async () => {
  const { dsn } = await aProject(await aFounder(server.url))
  const url = new URL(dsn)
  url.host = new URL(server.url).host
  // No limit is near on any machine: what is tested is the way, not the speed.
  const few = ['--seconds=1', '--size=2000', '--start-rate=4', '--max-rate=6', '--p99-ms=60000', '--lag-seconds=600']
  const { stdout } = await run(`--dsn=${url.href}`, ...few)
  expect(stdout).toMatch(
    /\nok {9}4\/s {2}answered in [\d.,]+ ms, p99 [\d.,]+ ms, \d+ waiting \([\d.]+ s\)\nok {9}6\/s /,
  )
  expect(stdout).toContain('\nThis machine takes at least 6 events/s of 2.0 kB')
  const { rows } = await server.app.db.query<{ n: number }>('select count(*)::int as n from events')
  expect(rows[0]?.n).toBeGreaterThan(5)
})

test.each([
  [['--dsn=https://key@faultline.example.com/1'], '--dsn must begin with http: measure the service itself'],
  [['--dsn=nonsense'], '--dsn must be the DSN of a project'],
  [['--seconds=none', '--dsn=http://k@127.0.0.1:9/1'], '--seconds must be a number of at least 1'],
])('%j is refused with the reason', async (words, reason) => {
  const { stderr } = await run(...words).then(
    () => ({ stderr: '' }),
    (error: unknown) => z.object({ stderr: z.string() }).parse(error),
  )
  expect(stderr).toContain(reason)
})
